"""Which counterexample is shown, and what else is offered."""

from __future__ import annotations

import pytest
from small_programs import two_locks

from mazurka.report.selection import (
    CHEAP_SECONDS,
    CHEAP_TRANSITIONS,
    QUICK_TRANSITIONS,
    SHORT_TRANSITIONS,
    context_switches,
    select,
    spare_seconds,
)
from mazurka.search import Move, SearchOptions, Silent, Violation

LONG = Violation("assert", (Move(0), Move(1), Move(0), Move(1)))
BUSY = Violation("assert", (Move(0), Move(1), Move(0)))
CALM = Violation("assert", (Move(0), Move(0), Move(1), Move(1), Move(1)))


class Searches:
    """Stands in for the searches for better counterexamples, and remembers what they were asked."""

    def __init__(self, switches=None, steps=None, later=None):
        self.answers = {"switches": switches, "steps": steps}
        self.later = later
        """What a second search for fewer switches finds."""
        self.asked = []
        self.limits = []
        self.below = []

    def find(self, options, below=None):
        """Look for the fewest switches."""
        if "switches" in self.asked:
            self.answers["switches"] = self.later
        self.below.append(below)
        return self.answer("switches", options)

    def fewest_steps(self, program, found, options, observer):
        return self.answer("steps", options)

    def answer(self, question, options):
        self.asked.append(question)
        self.limits.append((options.limit_seconds, options.limit_transitions))
        answer = self.answers[question]
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.fixture
def stand_in(monkeypatch):
    def replace_searches(**answers):
        searches = Searches(**answers)
        module = "mazurka.stateful.searches.minimize"
        monkeypatch.setattr(f"{module}.FewestSwitches", lambda *_: searches)
        monkeypatch.setattr(f"{module}.fewest_steps", searches.fewest_steps)
        return searches

    return replace_searches


def choose(wanted, order="dfs", found=LONG, **options):
    return select(two_locks(), found, wanted, SearchOptions(order=order, **options), Silent())


def test_auto_minimizes_after_a_depth_first_search_but_not_for_long(stand_in):
    searches = stand_in(switches=CALM)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (CALM, "switches")
    assert chosen.alternative.option == "--counterexample found"
    assert (chosen.alternative.steps, chosen.alternative.switches) == (4, 3)
    assert searches.asked == ["switches"]
    assert searches.limits == [(CHEAP_SECONDS, QUICK_TRANSITIONS)]


def test_a_shortest_one_in_which_threads_run_in_one_piece_is_good_enough(stand_in):
    searches = stand_in(steps=CALM)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (CALM, "shortest")
    assert searches.asked == ["switches", "steps"]
    assert searches.limits[1] == (CHEAP_SECONDS, SHORT_TRANSITIONS)


def test_so_is_the_one_found(stand_in):
    searches = stand_in()
    chosen = choose("auto", found=CALM)
    assert (chosen.violation, chosen.how) == (CALM, "found")
    assert chosen.alternative.option == "--counterexample switches"
    assert searches.asked == ["switches", "steps"]


def test_otherwise_auto_looks_longer_for_one_with_fewer_switches(stand_in):
    searches = stand_in(steps=BUSY, later=CALM)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (CALM, "switches")
    assert searches.asked == ["switches", "steps", "switches"]
    assert searches.below == [None, 2]
    assert searches.limits[2] == (CHEAP_SECONDS, None)


def test_a_shortest_one_is_shown_if_none_has_fewer_switches(stand_in):
    stand_in(steps=BUSY)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (BUSY, "shortest")


def test_a_deterministic_choice_does_not_depend_on_time(stand_in):
    searches = stand_in()
    choose("auto", deterministic=True)
    transitions = [QUICK_TRANSITIONS, SHORT_TRANSITIONS, CHEAP_TRANSITIONS]
    assert searches.limits == [(None, most) for most in transitions]


def test_auto_keeps_a_shortest_one(stand_in):
    searches = stand_in(switches=CALM)
    chosen = choose("auto", "bfs")
    assert (chosen.violation, chosen.how) == (LONG, "shortest")
    assert chosen.alternative.option == "--counterexample switches"
    assert searches.asked == []


def test_switches_takes_the_time_it_needs(stand_in):
    searches = stand_in(switches=CALM)
    assert choose("switches", "bfs").violation == CALM
    assert searches.limits == [(None, None)]


def test_found_is_left_alone(stand_in):
    searches = stand_in(switches=CALM)
    assert choose("found").violation == LONG
    assert searches.asked == []


@pytest.mark.parametrize("answer", [None, KeyboardInterrupt()])
def test_without_an_answer_the_one_found_is_shown(stand_in, answer):
    stand_in(switches=answer)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (LONG, "found")


def test_nothing_is_offered_that_is_no_better(stand_in):
    stand_in(switches=LONG)
    assert choose("auto").alternative is None


def test_context_switches():
    assert context_switches(()) == 0
    assert context_switches(LONG.path) == 3
    assert context_switches(CALM.path) == 1


def test_whoever_interrupts_gets_the_best_so_far(stand_in):
    searches = stand_in(steps=BUSY, later=KeyboardInterrupt())
    assert choose("auto").violation == BUSY
    assert searches.asked == ["switches", "steps", "switches"]


def test_a_shorter_one_is_looked_for_longer_in_place_of_one_nobody_could_read(stand_in):
    endless = Violation("assert", (Move(0), Move(1)) * 100_000)
    searches = stand_in()
    assert choose("auto", found=endless).violation == endless
    assert searches.asked == ["switches", "steps", "switches", "steps"]
    assert searches.limits[-1] == (4.0, None)


@pytest.mark.parametrize(
    ("left", "steps", "looking"),
    [
        (8.0, 10, 6.0),
        (8.0, 150_000, 2.0),  # replaying those takes up to 6 seconds
        (8.0, 300_000, 0.0),  # 6 seconds, or 12
        (8.0, 500_000, 6.0),  # replaying those is out of the question
    ],
)
def test_looking_for_another_one_leaves_time_to_replay_the_one_found(left, steps, looking):
    assert spare_seconds(left, steps) == pytest.approx(looking)
