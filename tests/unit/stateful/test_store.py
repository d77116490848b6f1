"""The set of visited states loses nothing while it grows, and stops at its limit."""

from __future__ import annotations

from itertools import product

import pytest
from searching import MEMORY, ORDERS
from tests.unit.ir.programs import modular_counters

from mazurka.compiled.memory import Area
from mazurka.deadline import TimeLimitError
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful import blocks
from mazurka.stateful.compiled.store import FIRST_CAPACITY, LAST_LOAD, MOST_LOAD, Store
from mazurka.stateful.searches.breadth_first import BreadthFirst
from mazurka.stateful.searches.depth_first import DepthFirst


def make(program: Program, order: str, limit: int = MEMORY) -> BreadthFirst | DepthFirst:
    kind = BreadthFirst if order == "bfs" else DepthFirst
    return kind(native(program), SearchOptions(order=order, limit_bytes=limit), Silent())


def empty_store(limit: int, *, words: int = 1, inline: bool = True) -> Store:
    block = Area(blocks.BLOCK_WORDS)
    return Store(block, words, inline=inline, limit_bytes=limit, observer=Silent())


@pytest.mark.parametrize("order", ORDERS)
def test_counts_are_kept_if_time_is_up_while_it_grows(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def be_late(store: Store, old: Area) -> None:
        raise TimeLimitError("the time limit was reached")

    monkeypatch.setattr(Store, "enter_states", be_late)
    result = make(modular_counters(5, 11), order).run()
    assert result.limits == ("time",)
    assert FIRST_CAPACITY // 2 < result.statistics.states < FIRST_CAPACITY
    assert result.statistics.transitions > 0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wide", [False, True])
def test_growing_keeps_every_state(order: str, wide: bool) -> None:
    """5 counters modulo 11: 11^5 states, and 5 moves in each."""
    search = make(modular_counters(5, 11, wide=wide), order)
    assert (search.layout.words > 1) == wide
    result: SearchResult = search.run()
    assert result.limits == ()
    assert result.statistics.states == 11**5 == 161_051
    assert result.statistics.transitions == 5 * 11**5
    # 4,096 slots and at most 3/4 full: doubled until 161,051 fit, which 2^18 slots do.
    assert search.store.table.length == 2**18
    assert FIRST_CAPACITY == 2**12


@pytest.mark.parametrize(("threads", "wide"), [(3, False), (3, True)])
def test_the_log_holds_each_state_once(threads: int, wide: bool) -> None:
    """22^3 = 10,648 states: two doublings (3,072 and 6,144 are passed, 12,288 is not)."""
    program = modular_counters(threads, 22, wide=wide)
    search = make(program, "bfs")
    search.run()
    states = [search.layout.unpack(search.words_at(n)) for n in range(search.store.size)]
    # The counters of the threads are cells 2, 4, 6, behind their program counters.
    assert len(states) == 22**3
    assert {state[2::2] for state in states} == set(product(range(22), repeat=3))
    assert search.store.table.length == 4 * FIRST_CAPACITY


def test_growth_doubles_then_fills_up_then_gives_up() -> None:
    """A table of 2^12 words takes 32,768 bytes; beside it one of twice that is 98,304."""
    store = empty_store(100_000)
    numbers = store.block.numbers
    assert numbers[blocks.FULL_AT] == int(FIRST_CAPACITY * MOST_LOAD) == 3072
    assert store.grow(0)
    assert numbers[blocks.CAPACITY] == 2 * FIRST_CAPACITY
    assert numbers[blocks.FULL_AT] == 6144
    assert store.peak_bytes == 98_304
    # 65,536 + 131,072 bytes are too many: the table is filled further instead, once.
    assert store.grow(0)
    assert numbers[blocks.CAPACITY] == 2 * FIRST_CAPACITY
    assert numbers[blocks.FULL_AT] == int(2 * FIRST_CAPACITY * LAST_LOAD)
    assert not store.grow(0)


def test_what_else_a_search_needs_counts_against_the_limit() -> None:
    assert empty_store(100_000).grow(1_000)  # 98,304 and 1,000
    store = empty_store(100_000)
    assert store.grow(2_000)
    assert store.block.numbers[blocks.CAPACITY] == FIRST_CAPACITY  # filled further, not doubled
    assert not empty_store(100_000).grow(100_000)


def test_used_bytes() -> None:
    assert empty_store(MEMORY).used_bytes() == 8 * FIRST_CAPACITY
    logged = empty_store(MEMORY, words=3, inline=False)
    logged.block.numbers[blocks.SIZE] = 10
    assert logged.used_bytes() == 8 * FIRST_CAPACITY + 10 * 3 * 8


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("limit", [1 << 16, 1 << 18, 1 << 20])
def test_a_small_limit_ends_the_search_and_is_kept(order: str, wide: bool, limit: int) -> None:
    result = make(modular_counters(5, 11, wide=wide), order, limit).run()
    assert result.limits == ("memory",)
    assert result.violation is None
    assert 0 < result.statistics.states < 11**5
    slice_of_states = 8 * (1 << 12) * 10  # what one slice may add before anybody looks
    assert result.statistics.table_bytes <= limit + slice_of_states


def test_only_states_of_one_word_lie_in_the_table() -> None:
    with pytest.raises(AssertionError):
        empty_store(MEMORY, words=2, inline=True)
