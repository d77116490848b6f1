"""The comparison notices strategies that are wrong, and lets one pass that is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from mazurka.ir.native.step import native
from mazurka.ir.program import FINISHED, Program
from mazurka.search import (
    CellClass,
    Move,
    Observer,
    SearchOptions,
    SearchResult,
    Strategy,
    Violation,
)
from mazurka.stateful.searches.depth_first import DepthFirst
from mazurka.stateful.strategies.full import STRATEGY as FULL
from tests.soundness.reductions import (
    Agreement,
    Comparison,
    Oracle,
    Subject,
    compare_all,
    consult,
    disagreement,
)
from tests.soundness.shrink import listing, shrink

PROGRAMS = 40
ENOUGH = 400
"""Among so many programs each mistake shows."""
Search = Callable[[Program, SearchOptions, Observer], SearchResult]


@cache
def explored(seed: int) -> Oracle | None:
    return consult(Subject(seed).program(), limit=1000)


def comparisons(strategy: Strategy, programs: int = PROGRAMS) -> Iterator[Comparison]:
    for seed in range(programs):
        oracle = explored(seed)
        if oracle is not None:
            yield from compare_all(oracle, strategy)


def is_noticed(strategy: Strategy) -> bool:
    found = comparisons(strategy, ENOUGH)
    return any(comparison.agreement is Agreement.DISAGREES for comparison in found)


def silent_about(kind: str) -> Search:
    """A search that does not report violations of one kind."""

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        result = FULL.run(program, options, observer)
        if result.violation is not None and result.violation.kind == kind:
            return replace(result, violation=None)
        return result

    return run


def without_last_thread(
    program: Program, options: SearchOptions, observer: Observer
) -> SearchResult:
    """A search that never lets the last thread move."""
    last = program.threads[-1]
    cells = list(program.cells)
    cells[last.counter] = replace(cells[last.counter], initial=FINISHED)
    threads = (*program.threads[:-1], replace(last, edges=(), active=True))
    rest = replace(program, cells=tuple(cells), threads=threads)
    return DepthFirst(native(rest), options, observer).run()


def without_last_move(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    """A search whose schedules stop short of the violation."""
    result = FULL.run(program, options, observer)
    if result.violation is None:
        return result
    return replace(result, violation=replace(result.violation, path=result.violation.path[:-1]))


def inventive(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    """A search that sees deadlocks everywhere."""
    result = FULL.run(program, options, observer)
    return replace(result, violation=Violation("deadlock", (Move(0),)))


def overlooking_bounds(
    program: Program, options: SearchOptions, observer: Observer
) -> SearchResult:
    return replace(FULL.run(program, options, observer), limits=())


def failing(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    raise AssertionError("out of order")


def careless_about(kind: str, lock: str | None = None) -> Search:
    """A search that puts every cell into the same class."""

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        classes = tuple(
            CellClass(cell.name, kind, lock, address=address)
            for address, cell in enumerate(program.cells)
            if address and cell.owner is None and cell.can_race
        )
        return replace(FULL.run(program, options, observer), classification=classes)

    return run


WRONG: dict[str, Search] = {
    "silent about assertions": silent_about("assert"),
    "silent about deadlocks": silent_about("deadlock"),
    "silent about races": silent_about("race"),
    "silent about locks": silent_about("lock"),
    "without the last thread": without_last_thread,
    "without the last move": without_last_move,
    "inventive": inventive,
    "overlooking bounds": overlooking_bounds,
    "failing": failing,
    "all cells unshared": careless_about("unshared"),
    "all cells read-only": careless_about("read-only"),
    "all cells protected": careless_about("protected", "lock0"),
}


def test_the_full_search_agrees() -> None:
    found = list(comparisons(FULL))
    assert {comparison.agreement for comparison in found} == {Agreement.AGREES}
    verdicts = {comparison.message for comparison in found}
    assert {"holds", "violated (assert)", "violated (deadlock)", "violated (race)"} <= verdicts


@pytest.mark.parametrize("name", WRONG)
def test_wrong_searches_are_noticed(name: str) -> None:
    strategy = replace(FULL, name=name, run=WRONG[name])
    assert is_noticed(strategy)


def test_classes_that_claim_nothing_are_never_wrong() -> None:
    strategy = replace(FULL, run=careless_about("unprotected"))
    assert {found.agreement for found in comparisons(strategy)} == {Agreement.AGREES}


def test_an_unsound_strategy_may_miss_violations_but_not_make_them_up() -> None:
    misses = replace(
        FULL,
        weakness="it may stop",
        run=silent_about("assert"),
    )
    assert {found.agreement for found in comparisons(misses)} == {Agreement.AGREES}
    assert is_noticed(
        replace(
            FULL,
            weakness="it may stop",
            run=without_last_move,
        )
    )


def test_giving_up_without_cause_is_inconclusive() -> None:
    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        result = FULL.run(program, options, observer)
        return replace(result, violation=None, limits=("time",))

    found = {comparison.agreement for comparison in comparisons(replace(FULL, run=run))}
    assert Agreement.INCONCLUSIVE in found
    assert Agreement.DISAGREES not in found


def test_a_strategy_is_asked_only_for_what_it_keeps() -> None:
    asserts_only = replace(FULL, preserves=frozenset({"assert"}))
    asked = {found.options.properties for found in comparisons(asserts_only)}
    assert asked == {frozenset({"assert"})}


def test_shrinking_keeps_the_mistake_and_little_else() -> None:
    strategy = replace(FULL, run=silent_about("assert"))
    options = SearchOptions(properties=frozenset({"assert"}))

    def fails(program: Program) -> bool:
        return disagreement(program, strategy, options, 500) is not None

    program = next(p for p in (Subject(seed).program() for seed in range(PROGRAMS)) if fails(p))
    small = shrink(program, fails)
    assert fails(small)
    # A failing assertion is one edge of one thread; what leads to it shrinks away.
    assert len(small.edges) == 1
    assert "check 0 (assert)" in listing(small)
