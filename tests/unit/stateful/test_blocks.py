"""The block's positions are distinct, and its constants fit what they stand for."""

from __future__ import annotations

from mazurka.ir.program import DEAD_ENDS, FAULTS
from mazurka.stateful import blocks
from mazurka.stateful.compiled import view


def test_positions_are_distinct_and_within_the_block() -> None:
    first, last = list(vars(blocks)).index("STEP"), list(vars(blocks)).index("BLOCK_WORDS")
    positions = [vars(blocks)[name] for name in list(vars(blocks))[first:last]]
    assert sorted(positions) == list(range(blocks.BLOCK_WORDS))


def test_dead_ends_are_the_last_faults() -> None:
    assert frozenset(FAULTS[blocks.FIRST_DEAD_END - 1 :]) == DEAD_ENDS


def test_moves_fit_into_origins_and_progress() -> None:
    thread_bits = blocks.ORIGIN_POSITION_SHIFT - blocks.ORIGIN_THREAD_SHIFT
    assert 1 << thread_bits > view.MOST_THREADS
    assert view.MOST_CHOICES < 1 << blocks.ORIGIN_THREAD_SHIFT
    assert view.MOST_CHOICES < 1 << blocks.CHOICE_BITS
