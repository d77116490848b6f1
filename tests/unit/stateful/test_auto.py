"""`auto` chooses by what it sees, says why, and never answers by a search that was cut short."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import check
from mazurka.checking import load_program
from mazurka.errors import OptionError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent, Strategy
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.stateful import auto

EXAMPLES = Path(__file__).parents[3] / "examples"
LOCKS = ("philosophers_ordered", {"N": "9"})
NO_LOCKS = ("bakery", {"N": "3"})
SAFE = frozenset({"assert", "deadlock"})


def example(name: str, definitions: dict[str, str] | None = None) -> Program:
    reading = Reading(definitions=definitions or {})
    return load_program(str(EXAMPLES / f"{name}.py"), reading)


def names(program: Program, **options: object) -> list[str]:
    wanted = SearchOptions(**options)  # type: ignore[arg-type]
    return [candidate.strategy for candidate in auto.candidates_for(program, wanted)]


@pytest.fixture
def tiny_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "PILOT_TRANSITIONS", 100)


def test_small_programs_are_searched_whole() -> None:
    chosen = auto.search(example("lost_update_fixed"), SearchOptions(), Silent())
    assert (chosen.strategy.name, chosen.result.limits) == ("full", ())
    assert chosen.reason == "few states"


def test_candidates_depend_on_locks_and_properties() -> None:
    assert names(example(*LOCKS), properties=SAFE) == ["cpc", "cartesian"]
    assert names(example(*NO_LOCKS), properties=SAFE) == ["cartesian", "cpc"]
    assert names(example(*LOCKS), properties=frozenset({"race"})) == ["cpc", "full"]


def test_many_threads_are_too_many_for_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "MOST_THREADS", 1)
    assert names(example(*LOCKS), properties=SAFE) == ["cpc", "stubborn"]


@pytest.mark.parametrize(("name", "definitions"), [LOCKS, NO_LOCKS])
@pytest.mark.parametrize("processors", [1, 2])
def test_large_programs_are_reduced(
    name: str, definitions: dict[str, str], processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "processors", lambda: processors)
    program = example(name, definitions)
    chosen = auto.search(program, SearchOptions(), Silent())
    candidates = names(program, properties=SAFE)[:processors]
    assert chosen.strategy.name in candidates
    assert (chosen.result.limits, chosen.result.violation) == ((), None)
    pilot = chosen.result.rounds[0]
    assert pilot.statistics.transitions >= auto.PILOT_TRANSITIONS


@pytest.mark.usefixtures("tiny_pilot")
@pytest.mark.parametrize("model", ["philosophers", "bank_transfer", "peterson_swapped"])
def test_violations_are_found_whoever_searches(model: str) -> None:
    verdict = check(EXAMPLES / f"{model}.py")
    assert verdict.verdict == "violated"
    assert verdict.violation == check(EXAMPLES / f"{model}.py", strategy="full").violation


def test_a_limit_is_for_all_searches_together() -> None:
    program = example("peterson_filter", {"N": "4"})
    chosen = auto.search(program, SearchOptions(limit_seconds=0.05), Silent())
    assert chosen.result.limits == ("time",)


@pytest.mark.parametrize(("processors", "told"), [(1, False), (2, True)])
def test_searches_that_share_the_memory_say_so(
    processors: int, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "processors", lambda: processors)
    program = example("peterson_filter", {"N": "4"})
    chosen = auto.search(program, SearchOptions(limit_bytes=3_000_000), Silent())
    assert chosen.result.limits == ("memory",)
    note = (
        "2 searches ran side by side and shared the memory, 1.5 MB each;"
        f" --strategy {chosen.strategy.name} alone has all of it"
    )
    assert chosen.result.notes == ((note,) if told else ())


@pytest.mark.usefixtures("tiny_pilot")
def test_an_error_in_the_background_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    real = load_strategy("cartesian")

    def fail(*_: object) -> object:
        raise ZeroDivisionError

    broken = Strategy(real.name, "", real.preserves, real.orders, fail)  # type: ignore[arg-type]
    monkeypatch.setattr(auto, "processors", lambda: 2)
    monkeypatch.setattr(
        auto, "load_strategy", lambda name: broken if name == "cartesian" else load_strategy(name)
    )
    with pytest.raises(ZeroDivisionError):
        auto.search(example(*LOCKS), SearchOptions(), Silent())


@pytest.mark.usefixtures("tiny_pilot")
def test_an_interrupted_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Silent):
        def progress(self, statistics: object) -> None:
            if load_strategy("cpc") and self.told:
                raise KeyboardInterrupt

        def message(self, text: str) -> None:
            self.told = True

        told = False

    monkeypatch.setattr(auto, "processors", lambda: 2)
    program = example("peterson_filter", {"N": "5"})
    chosen = auto.search(program, SearchOptions(), Impatient())
    assert chosen.result.limits == ("interrupted",)


def test_tuning_needs_a_named_strategy() -> None:
    with pytest.raises(OptionError, match="--workers needs --strategy cartesian"):
        check(EXAMPLES / "philosophers.py", workers=2)
    with pytest.raises(OptionError, match="--workers must be 256 or less, not 999"):
        check(EXAMPLES / "philosophers.py", strategy="cartesian", workers=999)


def test_the_choice_is_part_of_the_verdict() -> None:
    verdict = check(EXAMPLES / "philosophers_ordered.py")
    assert verdict.to_json()["choice"] == "few states"
    assert check(EXAMPLES / "philosophers_ordered.py", strategy="cpc").choice is None
