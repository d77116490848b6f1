"""What the depth-first kernels have in common: when they come back to Python, and with what.

`depth_first`, `transactions` and `persistent` are one loop: take the frame on top of the stack,
make steps from its state, push a state that is new, pop the frame when no step is left.  Which
steps are made, and what a frame remembers, is different in most lines of that loop.  To pass these
lines in as functions would make frames and batches of steps records in memory where they are now
registers.  So the loop is written three times, around the parts that stand here.
"""

from __future__ import annotations

from typing import Any

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import compiled
from mazurka.stateful.kernels.store import hash_record, insert_logged, tables_in


@compiled
def push_initial(block: Any) -> Any:
    """Put the initial state, which lies in the buffer, into the log and on the stack."""
    words, initial = block[blocks.WORDS], block[blocks.BUFFER]
    insert_logged(tables_in(block), 0, words, initial, hash_record(initial, words))
    block[blocks.SIZE] = block[blocks.HEIGHT] = block[blocks.DEEPEST] = 1


@compiled
def pause_at(transitions: Any, last: Any, size: Any, full_at: Any, height: Any, room: Any) -> Any:
    """Why the loop cannot go round once more: the slice is over, or an array is full; else DONE."""
    if transitions >= last:
        return blocks.SLICE
    if size >= full_at:
        return blocks.STORE_FULL
    return blocks.STACK_FULL if height >= room else blocks.DONE


@compiled
def note_fault(block: Any, frame: Any, thread: Any, choice: Any) -> Any:
    """Leave word of a step that has failed; the reason to come back."""
    block[blocks.FRAME] = frame
    block[blocks.MOVE_THREAD], block[blocks.MOVE_CHOICE] = thread, choice
    return blocks.FAULT


@compiled
def note_end(block: Any, waits: Any, stopped: Any) -> Any:
    """Note that nobody moves in a state; whether Python has to look at it.

    Whether it is a deadlock is decided there (`mazurka.analysis.standstill`).  States in which
    nobody waits, but some thread is stopped, matter only once: Python learns which one.
    """
    known = block[blocks.ENDS]
    block[blocks.ENDS] = known | (blocks.ENDS_STOPPED if stopped else blocks.ENDS_FREELY)
    return waits or (stopped and known & blocks.ENDS_STOPPED == 0)


@compiled
def write_back(block: Any, size: Any, height: Any, deepest: Any, transitions: Any) -> Any:
    """Keep what the loop had in registers for the next slice."""
    block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST] = size, height, deepest
    block[blocks.TRANSITIONS] = transitions
