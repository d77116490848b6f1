"""The records of a transaction search as words: stack frames, what a state keeps, the buffer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import compiled, peek, peek_byte, poke, poke_byte

PHASE, LM, RM = blocks.FRAME_PHASE, blocks.FRAME_LM, blocks.FRAME_RM
XEND, CPC = blocks.FRAME_XEND, blocks.FRAME_CPC
CHOICE_MASK = (1 << (blocks.FRAME_TID_SHIFT - blocks.FRAME_CHOICE_SHIFT)) - 1
TID_MASK = (1 << (blocks.FRAME_NUM_SHIFT - blocks.FRAME_TID_SHIFT)) - 1


class RecordFrame(NamedTuple):
    """A record, taken apart: the paper's TraversalInfo."""

    flags: Any
    choice: Any
    tid: Any
    num_tids: Any


class Batch(NamedTuple):
    """The buffer: states one behind the other, a spare one, then arrays for the rest."""

    states: Any
    spare: Any
    hashes: Any
    frames: Any
    """The frame to go on with behind each successor."""
    results: Any
    """Mover and fault of each."""
    lengths: Any
    """How many steps each has taken."""


MOVER_BITS = 2


@compiled
def batch_in(block: Any) -> Any:
    states, most, words = block[blocks.BUFFER], block[blocks.MOST_SUCCESSORS], block[blocks.WORDS]
    spare = states + 8 * most * words
    behind = spare + 8 * words
    return Batch(states, spare, behind, behind + 8 * most, behind + 16 * most, behind + 24 * most)


@compiled
def frame_of(word: Any) -> Any:
    number = np.int64(word)
    return RecordFrame(
        number & blocks.FRAME_FLAGS,
        (number >> blocks.FRAME_CHOICE_SHIFT) & CHOICE_MASK,
        (number >> blocks.FRAME_TID_SHIFT) & TID_MASK,
        number >> blocks.FRAME_NUM_SHIFT,
    )


@compiled
def frame_word(flags: Any, choice: Any, tid: Any, num_tids: Any) -> Any:
    return np.uint64(
        flags
        | (choice << blocks.FRAME_CHOICE_SHIFT)
        | (tid << blocks.FRAME_TID_SHIFT)
        | (num_tids << blocks.FRAME_NUM_SHIFT)
    )


@compiled
def variant(phase: Any, tid: Any) -> Any:
    """Which bit of a state's info stands for (state, phase): a byte and a bit in it."""
    if not phase:
        return np.int64(0), np.int64(blocks.INFO_COMMITTED)
    bit = blocks.INFO_FIRST_THREAD + tid
    return bit >> 3, np.int64(1) << (bit & 7)


@compiled
def mark_cpc(frames: Any, info: Any, stack: Any, info_bytes: Any, frame: Any) -> Any:
    """Set the CPC flag of a record, and of its copy in the table."""
    word = peek(frames, frame) | np.uint64(CPC)
    poke(frames, frame, word)
    if word & np.uint64(PHASE) == np.uint64(0):
        place = np.int64(peek(stack, frame)) * info_bytes
        poke_byte(info, place, peek_byte(info, place) | blocks.INFO_CPC)
