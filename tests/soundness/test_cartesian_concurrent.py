"""Cartesian search by several workers does, state by state, what it does by one.

Random programs are small, so every state is handed to the workers, calls end after a few moves, and
all arrays begin too small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.searches import cartesian as cartesian_search
from mazurka.stateful.searches import cartesian_workers
from mazurka.stateful.searches.cartesian import CartesianSearch, Vectors
from mazurka.stateful.searches.cartesian_workers import cartesian_search as search
from mazurka.stateful.strategies.cartesian import STRATEGY
from mazurka.stateful.variants import CycleRule
from tests.soundness.amounts import shares
from tests.soundness.reductions import Agreement, Subject, compare_all, consult

pytestmark = pytest.mark.usefixtures("eager_workers")

WHOLE = SearchOptions(properties=frozenset({"assert", "deadlock"}), stop_at_first=False)
FIRST = replace(WHOLE, stop_at_first=True)


@pytest.fixture
def eager_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "WORTH_SHARING": 1,
        "WORTH_CLAIMING": 2,
        "BATCH_MOVES": 12,
        "CALL_MOVES": 3,
        "FIRST_OUTBOX": 1,
        "ROUND_SECONDS": 0.0,
    }.items():
        monkeypatch.setattr(cartesian_workers, name, value)
    for name, value in {"FIRST_PREFIXES": 1, "FIRST_PASSED": 2, "SHORT_FOOTPRINT": 4}.items():
        monkeypatch.setattr(cartesian_search, name, value)


def programs(first: int, last: int) -> Iterator[tuple[str, Program]]:
    for seed in range(first, last):
        subject = Subject(seed)
        yield str(subject), subject.program()


def done(program: Program, options: SearchOptions, rule: CycleRule) -> tuple[object, ...]:
    """All that a search has found out: the states in order, the counts, and the violation."""
    found = search(
        native(program), replace(options, limit_bytes=1 << 24), Silent(), Vectors(rule=rule)
    )
    result = found.run()
    counts = result.statistics
    return (
        log_of(found),
        (counts.states, counts.transitions, counts.depth),
        result.violation,
        result.limits,
    )


def log_of(found: CartesianSearch) -> list[list[int]]:
    return [found.store.words_at(at, found.layout.words) for at in range(found.store.size)]


@pytest.mark.parametrize("first", range(20_000, 20_000 + shares(30), 10))
def test_workers_change_nothing(first: int) -> None:
    for name, program in programs(first, first + 10):
        for number, rule in enumerate(CycleRule):
            alone = done(program, WHOLE, rule)
            several = replace(WHOLE, tuning={"workers": 2 + number})
            assert done(program, several, rule) == alone, name


def test_the_violation_is_the_same() -> None:
    found = 0
    for name, program in programs(21_000, 21_040):
        alone = done(program, FIRST, CycleRule.RETURN)
        together = done(program, replace(FIRST, tuning={"workers": 3}), CycleRule.RETURN)
        assert together[2:] == alone[2:], name
        found += alone[2] is not None
    assert found > 5


def by_two(program: Program, options: SearchOptions, observer: Silent) -> SearchResult:
    return STRATEGY.run(program, replace(options, tuning={"workers": 2}), observer)


def test_two_workers_agree_with_the_unreduced_search() -> None:
    strategy = replace(STRATEGY, run=by_two)
    for seed in range(22_000, 22_000 + shares(15)):
        oracle = consult(Subject(seed).program())
        for comparison in compare_all(oracle, strategy) if oracle else ():
            assert comparison.agreement is not Agreement.DISAGREES, f"{seed}: {comparison}"
