"""`auto` stores states first, turns to a circuit where these cannot go, and says why."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka import auto, check
from mazurka.errors import OptionError, UnsupportedError
from mazurka.ir.program import Program
from mazurka.report.verdict import Verdict
from mazurka.search import (
    Chosen,
    Observer,
    SearchOptions,
    SearchResult,
    Silent,
    Statistics,
    Strategy,
    Violation,
)
from mazurka.stateful import auto as stored

FOUND = Violation("assert", ())
PROGRAM = Program("nothing", (), ())
USUAL = SearchOptions(
    properties=frozenset({"assert", "deadlock", "hang"}), dispensable=frozenset({"hang"})
)
TWO_CHOICES = """
from mazurka.model import Int, choose

secret: Int[0, {most}] = 0
guess: Int[0, {most}] = 0

def hides():
    global secret
    secret = choose(range({most}))

def guesses():
    global guess
    guess = choose(range({most}))
    assert secret != guess or secret < {most} // 2, "guessed"

threads = [hides(), guesses()]
"""
COUNTERS = """
from mazurka.model import Int, atomic

left: Int[0, 4294967295] = 0
right: Int[0, 4294967295] = 0

def counts():
    global left, right
    while True:
        with atomic():
            if left < 4294967295:
                left, right = left + 1, right + 1

def compares():
    with atomic():
        assert left == right, "they differ"

threads = [counts(), compares()]
"""


@pytest.fixture(autouse=True)
def short_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "PILOT_TRANSITIONS", 200)
    monkeypatch.setattr(stored, "TRIAL_TRANSITIONS", 200)


def check_text(folder: Path, text: str, **options: object) -> Verdict:
    file = folder / "model.py"
    file.write_text(text, encoding="utf-8")
    return check(file, **options)  # type: ignore[arg-type]


# --- whole checks -------------------------------------------------------------------------------


def test_too_many_outcomes_are_left_to_a_circuit(tmp_path: Path) -> None:
    verdict = check_text(tmp_path, TWO_CHOICES.format(most=100_000))
    assert (verdict.verdict, verdict.engine) == ("violated", "symbolic")
    assert verdict.strategy in ("portfolio", "events")
    assert verdict.choice == (
        "states cannot be stored: one step has 100,000 nondeterministic outcomes"
    )


def test_a_strategy_or_an_engine_that_was_named_tries_some_outcomes(tmp_path: Path) -> None:
    for named in ({"strategy": "full"}, {"engine": "stateful"}):
        verdict = check_text(tmp_path, TWO_CHOICES.format(most=100_000), **named)
        assert verdict.verdict == "violated"
        compared = TWO_CHOICES.format(most=100_000).replace("secret != guess", "guess != 77_777")
        verdict = check_text(tmp_path, compared, **named)
        assert (verdict.verdict, verdict.limits) == ("violated", ())
        assert any("stand for all of them" in note for note in verdict.notes)


def test_wide_values_are_proved_by_a_circuit(tmp_path: Path) -> None:
    verdict = check_text(tmp_path, COUNTERS)
    assert (verdict.verdict, verdict.strategy) == ("holds", "portfolio")
    assert verdict.choice is not None
    assert verdict.choice.startswith("`left` takes 32 bits")
    assert verdict.statistics is not None
    assert verdict.statistics.proof is not None
    assert len(verdict.rounds) >= 2
    assert verdict.properties == ("assert", "deadlock")
    assert any(note.startswith("hangs were not looked for") for note in verdict.notes)


def test_without_a_solver_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pysat", None)
    right = TWO_CHOICES.format(most=100_000).replace("secret < 100000 // 2", "guess >= 0")
    verdict = check_text(tmp_path, right)
    assert verdict.verdict == "inconclusive"
    assert "outcomes at" in verdict.limits[0]
    assert any("pip install 'mazurka-check[symbolic]'" in note for note in verdict.notes)


# --- when to turn -------------------------------------------------------------------------------


def fake(
    monkeypatch: pytest.MonkeyPatch,
    states: SearchResult,
    circuit: SearchResult,
    *,
    missing: bool = False,
) -> list[SearchOptions]:
    """Let the two searches have these results; returns what the second one was asked."""
    asked: list[SearchOptions] = []

    def search(*given: object) -> Chosen:
        strategy = Strategy("full", "", USUAL.properties, ("dfs",), run)
        return Chosen(strategy, "few states", states)

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        asked.append(options)
        return circuit

    def refuse(options: SearchOptions) -> None:
        if missing:
            raise OptionError("install a solver")

    preserved = frozenset({"assert", "deadlock"})
    strategy = Strategy("portfolio", "", preserved, ("dfs",), run, refuse=refuse)
    monkeypatch.setattr(stored, "search", search)
    monkeypatch.setattr(auto, "load_strategy", lambda name: strategy)
    return asked


NO_MEMORY = SearchResult(Statistics(states=7), limits=("memory",))
PROVED = SearchResult(Statistics(unrolled=3), notes=("by induction",))


def test_a_circuit_goes_on_where_the_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake(monkeypatch, NO_MEMORY, PROVED)
    chosen = auto.search(PROGRAM, USUAL, Silent())
    assert (chosen.strategy.name, chosen.result.limits) == ("portfolio", ())
    assert chosen.reason == "no memory for more states after 7 states"
    assert [each.statistics.states for each in chosen.result.rounds] == [7]
    assert asked[0].properties == {"assert", "deadlock"}
    assert asked[0].limit_seconds == auto.LEAST_TURN


def test_where_nothing_depends_on_time_wide_values_turn_after_so_many_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = SearchResult(Statistics(states=9), limits=("transitions",))
    asked = fake(monkeypatch, cut, PROVED)
    monkeypatch.setattr(auto, "describe_width", lambda program: "`x` takes 32 bits")
    chosen = auto.search(PROGRAM, replace(USUAL, deterministic=True), Silent())
    assert chosen.reason == "`x` takes 32 bits, and states have no end after 9 states"
    assert asked[0].limit_seconds is None


@pytest.mark.parametrize(
    "result",
    [
        SearchResult(Statistics()),
        SearchResult(Statistics(), FOUND),
        SearchResult(Statistics(), limits=("time",)),
        SearchResult(Statistics(), limits=("interrupted",)),
        SearchResult(Statistics(), limits=("a queue holds more than 8 items",)),
    ],
)
def test_an_answer_and_the_user_end_a_check(
    monkeypatch: pytest.MonkeyPatch, result: SearchResult
) -> None:
    asked = fake(monkeypatch, result, PROVED)
    assert auto.search(PROGRAM, USUAL, Silent()).result is result
    assert not asked


@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(properties=USUAL.properties),  # hangs were asked for by name
        SearchOptions(stop_at_first=False),
        SearchOptions(self_check=True),
        SearchOptions(order="bfs"),
        SearchOptions(limit_bytes=1_000_000),
        SearchOptions(deterministic=True),  # memory is not the same every time
    ],
)
def test_what_a_circuit_cannot_answer_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, options: SearchOptions
) -> None:
    asked = fake(monkeypatch, NO_MEMORY, PROVED)
    monkeypatch.setattr(auto, "describe_width", lambda program: None)
    assert auto.search(PROGRAM, options, Silent()).result is NO_MEMORY
    assert not asked


@pytest.mark.parametrize(
    ("processors", "limit", "begins"), [(2, 10.0, True), (1, 10.0, False), (2, None, False)]
)
def test_a_circuit_may_begin_beside_states_that_grow(
    monkeypatch: pytest.MonkeyPatch, processors: int, limit: float | None, begins: bool
) -> None:
    monkeypatch.setattr(auto, "processors", lambda: processors)
    monkeypatch.setattr(auto, "describe_width", lambda program: None)
    options = replace(USUAL, limit_seconds=limit)
    circuit = Strategy("portfolio", "", USUAL.properties, ("dfs",), lambda *_: PROVED)
    growth = heard(*((n / 10, 100 * n) for n in range(60)))
    rivals = auto.TurningSearch(PROGRAM, circuit, options, Silent()).find_rivals(growth)
    assert [each.begins is not None and each.begins() for each in rivals] == [True] * begins
    assert all(each.apart for each in rivals)


def test_where_neither_decides_both_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    open_end = SearchResult(Statistics(unrolled=5, unrolled_unit="round"), limits=("time",))
    fake(monkeypatch, NO_MEMORY, open_end)
    chosen = auto.search(PROGRAM, USUAL, Silent())
    assert (chosen.strategy.name, chosen.result.limits) == ("full", ("memory", "time"))
    assert chosen.result.statistics.states == 7
    assert "no violation within 5 rounds, then time" in chosen.result.notes[-1]


def test_nobody_turns_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake(monkeypatch, NO_MEMORY, PROVED)
    chosen = auto.search(PROGRAM, replace(USUAL, limit_seconds=auto.LEAST_LEFT / 2), Silent())
    assert (chosen.result.limits, asked) == (("memory", "time"), [])


def test_what_is_missing_is_told_behind_the_end_of_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake(monkeypatch, NO_MEMORY, PROVED, missing=True)
    chosen = auto.search(PROGRAM, USUAL, Silent())
    assert chosen.result.limits == ("memory",)
    assert chosen.result.notes[-1].endswith("install a solver")


# --- growth -------------------------------------------------------------------------------------


def heard(*samples: tuple[float, int], limit: float | None = 10.0) -> auto.StateGrowth:
    now = samples[-1][0] if samples else 6.0
    clock = iter([0.0, now, now, now])
    growth = auto.StateGrowth(SearchOptions(limit_seconds=limit), Silent(), lambda: next(clock))
    for seconds, states in samples:
        growth.progress(Statistics(seconds=seconds, states=states))
    return growth


def test_a_search_that_grows_as_ever_has_no_end() -> None:
    assert heard(*((n / 10, 100 * n) for n in range(60))).is_endless()


@pytest.mark.parametrize(
    "growth",
    [
        heard(*((n / 10, 100 * n) for n in range(45))),  # not half of the time
        heard(*((n / 10, 100 * n) for n in range(60)), limit=None),
        heard(*((n / 10, 100 * min(n, 40) + n) for n in range(60))),  # it slows down
        heard(*((n / 10, 100 * n) for n in range(59)), (5.9, 3)),  # another search has begun
        heard(),
    ],
)
def test_a_search_has_an_end_unless_it_grows(growth: auto.StateGrowth) -> None:
    assert not growth.is_endless()


def refuse_by(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let some strategies refuse every program."""
    load = auto.load_strategy

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        raise UnsupportedError("such programs are for `full`")

    def load_refusing(name: str) -> Strategy:
        return replace(load(name), run=run) if name in names else load(name)

    monkeypatch.setattr(auto, "load_strategy", load_refusing)


RACE_OVER_A_WIDE_CHOICE = """
#include <pthread.h>
int x;
static void *run(void *given) { int u; if (u > 0) x++; return given; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int v;
    x = v;
    pthread_join(t, 0);
    return 0;
}
"""


@pytest.mark.parametrize("refusing", [["portfolio", "events"], ["portfolio"], ["events"]])
def test_a_refusal_by_a_strategy_of_its_own_choice_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusing: list[str]
) -> None:
    refuse_by(monkeypatch, *refusing)
    path = tmp_path / "program.c"
    path.write_text(RACE_OVER_A_WIDE_CHOICE, encoding="utf-8")
    assert check(path, properties=["race"]).verdict == "violated"


def test_where_all_refuse_the_refusal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_by(monkeypatch, "portfolio", "events")
    fake_states = UnsupportedError("no such programs")

    def search(*given: object) -> Chosen:
        raise fake_states

    monkeypatch.setattr(stored, "search", search)
    monkeypatch.setattr(auto, "describe_wide_choice", lambda program: "one step is wide")
    with pytest.raises(UnsupportedError, match="such programs are for `full`"):
        auto.search(PROGRAM, USUAL, Silent())
