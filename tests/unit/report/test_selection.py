"""Which counterexample is shown, and what else is offered."""

from __future__ import annotations

import pytest
from small_programs import two_locks

from mazurka.report.selection import CHEAP_SECONDS, context_switches, select
from mazurka.search import Move, SearchOptions, SearchResult, Silent, Statistics, Violation

LONG = Violation("assert", (Move(0), Move(1), Move(0), Move(1)))
CALM = Violation("assert", (Move(0), Move(0), Move(1), Move(1), Move(1)))


@pytest.fixture
def minimize(monkeypatch):
    """Replace the search for fewer switches; collects the options it was called with."""
    calls = []

    def answer_with(answer):
        def stand_in(program, found, options, observer):
            calls.append(options)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        monkeypatch.setattr("mazurka.report.selection._fewest_switches", stand_in)
        return calls

    return answer_with


def choose(wanted, order="dfs"):
    return select(two_locks(), LONG, wanted, SearchOptions(order=order), Silent())


def test_auto_minimizes_after_a_depth_first_search_but_not_for_long(minimize):
    calls = minimize(CALM)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (CALM, "switches")
    assert chosen.alternative.option == "--counterexample found"
    assert (chosen.alternative.steps, chosen.alternative.switches) == (4, 3)
    assert calls[0].limit_seconds == CHEAP_SECONDS


def test_auto_keeps_a_shortest_one(minimize):
    calls = minimize(CALM)
    chosen = choose("auto", "bfs")
    assert (chosen.violation, chosen.how) == (LONG, "shortest")
    assert chosen.alternative.option == "--counterexample switches"
    assert calls == []


def test_switches_takes_the_time_it_needs(minimize):
    calls = minimize(CALM)
    assert choose("switches", "bfs").violation == CALM
    assert calls[0].limit_seconds is None


def test_found_is_left_alone(minimize):
    calls = minimize(CALM)
    assert choose("found").violation == LONG
    assert calls == []


@pytest.mark.parametrize("answer", [None, KeyboardInterrupt()])
def test_without_an_answer_the_one_found_is_shown(minimize, answer):
    minimize(answer)
    chosen = choose("auto")
    assert (chosen.violation, chosen.how) == (LONG, "found")


def test_nothing_is_offered_that_is_no_better(minimize):
    minimize(LONG)
    assert choose("auto").alternative is None


def test_context_switches():
    assert context_switches(()) == 0
    assert context_switches(LONG.path) == 3
    assert context_switches(CALM.path) == 1


def test_a_schedule_nobody_could_read_is_replaced_by_a_shortest_one(minimize):
    minimize(None)
    endless = Violation("assert", (Move(0), Move(1)) * 10_000)
    short = Violation("assert", (Move(1), Move(0)))
    asked = []

    def search(options):
        asked.append(options.order)
        return SearchResult(Statistics(), short)

    def choose(found):
        return select(two_locks(), found, "auto", SearchOptions(), Silent(), search)

    chosen = choose(endless)
    assert (chosen.violation, chosen.how) == (short, "shortest")
    assert chosen.alternative.steps == 20_000
    assert asked == ["bfs"]
    assert choose(LONG).violation == LONG
    assert asked == ["bfs"]
