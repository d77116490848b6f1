"""`auto` chooses by what it sees, says why, and never answers by a search that was cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.limits import ENDLESS, SOON

from mazurka import check
from mazurka.checking import load_program
from mazurka.errors import OptionError, UnsupportedError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent, Statistics, Strategy
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.stateful import auto
from mazurka.stateful.auto import TrialSearch
from mazurka.stateful.race import Contender

EXAMPLES = Path(__file__).parents[3] / "examples"
LOCKS = ("philosophers_ordered", {"N": "9"})
NO_LOCKS = ("bakery", {"N": "3"})
SAFE = frozenset({"assert", "deadlock"})


def example(name: str, definitions: dict[str, str] | None = None) -> Program:
    reading = Reading(definitions=definitions or {})
    return load_program(str(EXAMPLES / f"{name}.py"), reading)


@pytest.fixture
def tiny_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "PILOT_TRANSITIONS", 100)
    monkeypatch.setattr(auto, "TRIAL_TRANSITIONS", 100)


def test_small_programs_are_searched_whole() -> None:
    chosen = auto.search(example("lost_update_fixed"), SearchOptions(), Silent())
    assert (chosen.strategy.name, chosen.result.limits) == ("full", ())
    assert chosen.reason == "few states"


def candidates(program: Program, *properties: str) -> list[str]:
    return list(
        auto.find_candidates(program, SearchOptions(properties=frozenset(properties or SAFE)))
    )


def test_candidates_depend_on_locks_and_properties() -> None:
    assert candidates(example(*LOCKS)) == ["cartesian", "cpc", "lock-patterns"]
    assert candidates(example(*NO_LOCKS)) == ["cartesian", "cpc", "stubborn"]
    assert candidates(example(*LOCKS), "race") == ["cpc", "lock-patterns"]


def test_candidates_are_sound_for_what_is_asked() -> None:
    for asked in (SAFE, frozenset({"race"}), frozenset({"assert"})):
        for name in candidates(example(*LOCKS), *asked):
            strategy = load_strategy(name)
            assert strategy.sound
            assert asked <= strategy.preserves


def test_many_threads_are_too_many_for_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.stateful.searches.cartesian.MOST_THREADS", 1)
    assert candidates(example(*LOCKS)) == ["cpc", "lock-patterns"]
    monkeypatch.setattr("mazurka.stateful.searches.persistent.MOST_THREADS", 1)
    assert candidates(example(*LOCKS)) == ["cpc"]


def trial(name: str, **counts: int) -> TrialSearch:
    return TrialSearch(
        load_strategy(name), SearchResult(Statistics(**counts), limits=("transitions",))
    )


FULL = trial("full", states=1000, transitions=4000, depth=0)


def order(*trials: TrialSearch) -> list[str]:
    return [each.strategy.name for each in auto.rank([FULL, *trials], threads=5)]


def test_a_reduction_without_effect_loses_against_the_plain_search() -> None:
    same = trial("cpc", states=1000, transitions=3900, depth=0)
    assert order(same) == ["full", "cpc"]


def test_the_reduction_that_leaves_fewest_successors_wins() -> None:
    weak = trial("cpc", states=1000, transitions=2500, depth=0)
    strong = trial("stubborn", states=1000, transitions=1200, depth=0)
    assert order(weak, strong) == ["stubborn", "cpc", "full"]


def test_states_on_the_stack_say_nothing_about_successors() -> None:
    """800 of 1000 states are on the stack, each left once; the others have 4.5 successors each."""
    deep = trial("full", states=1000, transitions=800 + 900, depth=800)
    assert deep.successors(threads=9) == pytest.approx(4.5)
    straight_down = trial("full", states=1000, transitions=1000, depth=990)
    assert straight_down.successors(threads=9) == 9


def test_vectors_of_single_steps_do_not_pay_and_long_ones_do() -> None:
    short = trial("cartesian", states=900, transitions=2000, expanded=500)
    long = trial("cartesian", states=900, transitions=5000, expanded=500)
    closing = trial("cartesian", states=510, transitions=2000, expanded=500)
    strong = trial("cpc", states=1000, transitions=1200, depth=0)
    assert order(short) == ["full", "cartesian"]
    assert order(long) == ["cartesian", "full"]
    assert order(strong, closing) == ["cartesian", "cpc", "full"]


def test_vectors_are_second_at_least() -> None:
    short = trial("cartesian", states=900, transitions=2000, expanded=500)
    strong = trial("cpc", states=1000, transitions=1200, depth=0)
    assert order(strong, short) == ["cpc", "cartesian", "full"]


@pytest.mark.parametrize(("name", "definitions"), [LOCKS, NO_LOCKS])
@pytest.mark.parametrize("processors", [1, 2])
def test_large_programs_are_reduced(
    name: str, definitions: dict[str, str], processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "processors", lambda: processors)
    program = example(name, definitions)
    chosen = auto.search(program, SearchOptions(), Silent())
    rivals = ["full"] if processors > 1 else []  # side by side, whoever comes first
    assert chosen.strategy.name in [*candidates(program), *rivals]
    assert (chosen.result.limits, chosen.result.violation) == ((), None)
    pilot = chosen.result.rounds[0]
    assert pilot.statistics.transitions >= auto.PILOT_TRANSITIONS
    assert pilot.reason == "full was tried for 32,768 transitions"


def test_the_choice_is_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "processors", lambda: 8)
    program = example(*NO_LOCKS)
    options = SearchOptions(deterministic=True)
    first, second = (auto.search(program, options, Silent()) for _ in range(2))
    assert (first.strategy.name, first.reason) == (second.strategy.name, second.reason)
    one, other = first.result.statistics, second.result.statistics
    assert (one.states, one.transitions) == (other.states, other.transitions)


@pytest.mark.usefixtures("tiny_pilot")
@pytest.mark.parametrize("model", ["philosophers", "bank_transfer", "peterson_swapped"])
def test_violations_are_found_whoever_searches(model: str) -> None:
    verdict = check(EXAMPLES / f"{model}.py")
    assert verdict.verdict == "violated"
    assert verdict.violation == check(EXAMPLES / f"{model}.py", strategy="full").violation


def test_a_limit_is_for_all_searches_together(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS, "utf-8")
    program = load_program(str(path), Reading())
    chosen = auto.search(program, SearchOptions(limit_seconds=SOON), Silent())
    assert chosen.result.limits == ("time",)


@pytest.mark.usefixtures("tiny_pilot")
def test_a_reduction_that_cannot_search_a_program_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = load_strategy("cartesian")

    def refuse(*_: object) -> object:
        raise UnsupportedError("too many of something")

    unable = Strategy(real.name, "", real.preserves, real.orders, refuse)  # type: ignore[arg-type]
    monkeypatch.setattr(
        auto, "load_strategy", lambda name: unable if name == "cartesian" else load_strategy(name)
    )
    chosen = auto.search(example("bakery"), SearchOptions(deterministic=True), Silent())
    assert chosen.strategy.name != "cartesian"
    assert chosen.result.limits == ()


def test_tuning_needs_a_named_strategy() -> None:
    with pytest.raises(OptionError, match="--cycle-rule needs --strategy cartesian"):
        check(EXAMPLES / "philosophers.py", cycle_rule="literal")
    with pytest.raises(OptionError, match="--workers must be 256 or less, not 999"):
        check(EXAMPLES / "philosophers.py", strategy="cartesian", workers=999)


def test_spare_processors_search_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three strategies race on six processors; three are left."""
    asked = []

    class Watched(auto.Race):
        def __init__(self, program: Program, contenders: list[Contender], *rest: Any) -> None:
            asked.extend(contenders)
            super().__init__(program, contenders[:1], *rest)

    monkeypatch.setattr(auto, "processors", lambda: 6)
    monkeypatch.setattr(auto, "Race", Watched)
    monkeypatch.setattr(auto, "PILOT_TRANSITIONS", 10)
    monkeypatch.setattr(auto, "TRIAL_TRANSITIONS", 10)
    check(EXAMPLES / "philosophers_ordered.py", definitions={"N": 4})
    *_, last = asked
    assert last.strategy.name == "full"
    assert last.tuning == {"workers": 6 - (len(asked) - 1)}


def test_the_choice_is_part_of_the_verdict() -> None:
    verdict = check(EXAMPLES / "philosophers_ordered.py")
    assert verdict.to_json()["choice"] == "few states"
    assert check(EXAMPLES / "philosophers_ordered.py", strategy="cpc").choice is None
