"""Breadth-first search by several workers: limits, interruptions, and when a level ends."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.ir.programs import modular_counters

from mazurka.ir.native.step import native
from mazurka.search import SearchOptions, SearchResult, Silent, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.searches import conduct, parallel
from mazurka.stateful.searches.parallel import ParallelSearch
from mazurka.stateful.strategies.full import STRATEGY

THREADS, MODULUS = 4, 9
STATES = MODULUS**THREADS
"""Each counter takes each of its values; a state has one successor for each thread."""
OPTIONS = SearchOptions(properties=frozenset({"assert"}), limit_bytes=1 << 26)


class Impatient(Silent):
    """Interrupts a search when it has told of some progress."""

    def progress(self, statistics: Statistics) -> None:
        if statistics.states > 1:
            raise KeyboardInterrupt


@pytest.fixture
def shared_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL_LEVEL", 1)


def search(workers: int, options: SearchOptions = OPTIONS) -> SearchResult:
    program = modular_counters(THREADS, MODULUS)
    return STRATEGY.run(program, replace(options, tuning={"workers": workers}), Silent())


@pytest.mark.usefixtures("shared_levels")
@pytest.mark.parametrize("workers", [2, 3, 16])
def test_more_workers_than_processors_count_the_same(workers: int) -> None:
    result = search(workers)
    assert result.limits == ()
    assert result.statistics.states == STATES
    assert result.statistics.transitions == THREADS * STATES
    assert result.statistics.depth == THREADS * (MODULUS - 1)
    assert result.order == "bfs"


@pytest.mark.usefixtures("shared_levels")
def test_many_small_searches_by_many_workers() -> None:
    """Most of the time is spent with beginning and ending levels, on few processors."""
    for number in range(12):
        threads, modulus = 2 + number % 2, 3 + number % 4
        program = modular_counters(threads, modulus)
        options = replace(OPTIONS, tuning={"workers": 8})
        made = STRATEGY.run(program, options, Silent()).statistics
        assert made.states == modulus**threads
        assert made.transitions == threads * modulus**threads


def test_a_small_search_is_left_to_one_worker() -> None:
    program = modular_counters(2, 5)
    found = ParallelSearch(native(program), OPTIONS, Silent(), 3)
    assert found.run().statistics.states == 5**2
    assert [worker.numbers[blocks.SIZE] for worker in found.workers] == [5**2, 0, 0]


@pytest.mark.usefixtures("shared_levels")
def test_several_workers_share_the_states() -> None:
    found = ParallelSearch(native(modular_counters(THREADS, MODULUS)), OPTIONS, Silent(), 2)
    found.run()
    sizes = [worker.numbers[blocks.SIZE] for worker in found.workers]
    assert sum(sizes) == STATES


@pytest.mark.usefixtures("shared_levels")
def test_memory_is_limited() -> None:
    result = search(2, replace(OPTIONS, limit_bytes=100_000))
    assert result.limits == ("memory",)
    assert 1 < result.statistics.states < STATES


@pytest.mark.usefixtures("shared_levels")
def test_an_interrupted_search_says_how_far_it_has_come() -> None:
    program = modular_counters(THREADS, MODULUS)
    options = replace(OPTIONS, tuning={"workers": 2})
    result = STRATEGY.run(program, options, Impatient())
    assert result.limits == ("interrupted",)
    assert result.statistics.states > 1


class Hasty(ParallelSearch):
    """A mutant: goes on to the next level after every slice, whatever is left of the last."""

    def slice(self, budget: int) -> bool:
        return super().slice(budget) or self.next_level()


@pytest.mark.usefixtures("shared_levels")
@pytest.mark.parametrize(("kind", "complete"), [(ParallelSearch, True), (Hasty, False)])
def test_a_level_that_ends_too_early_is_noticed(
    kind: type[ParallelSearch], complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The initial state has four successors, and a slice ends after the first of them."""
    monkeypatch.setattr(conduct, "FIRST_SLICE", 1)
    monkeypatch.setattr(conduct, "SLICE_TRANSITIONS", 1)
    monkeypatch.setattr(parallel, "SLICE_TRANSITIONS", 1)
    monkeypatch.setattr(parallel, "LONGER_SLICE", 1)
    result = kind(native(modular_counters(THREADS, 3)), OPTIONS, Silent(), 2).run()
    assert (result.statistics.transitions == THREADS * 3**THREADS) == complete
