"""Looks for hangs: do threads go round for ever from a state, and nothing shared changes again?

`mazurka.stateful.hangs` has the same check in plain Python, with the proofs, and is the one to read
first.  Each thread walks alone from the state.  The states of its walk lie in an array of their
own, with a hash table whose entries carry the number of the walk, so that nothing is cleared
between two walks.  Most states are dismissed by the first step of some thread.

**Which states are examined.**  Every step from a hang leads to a hang.  So of the hangs that a
depth-first search visits, the one that it meets last has no successor that is new to the search:
all of them are hangs, too, and were met before.  It is enough to examine the states from which the
search has pushed nothing, whichever steps the search explores there.  The same is true of quiet
states, which are hangs unless a thread has failed or is stopped by an assumption: if there are any,
Python is asked about one, and if there is a hang, about one of the hangs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import call_step, choices_at, compiled, peek, poke
from mazurka.stateful.kernels.store import NOTHING, ONE, hash_record, same_words

GOES_ON, RESTS, GOES_ROUND, NO_ROOM = range(4)
WALK_SHIFT = np.uint64(32)
POSITION_MASK = np.uint64((1 << 32) - 1)


@compiled
def changes_shared(block: Any, before: Any, after: Any, thread: Any) -> Any:
    """Whether a step has changed a cell that is not its thread's own."""
    words = block[blocks.STATE_WORDS]
    masks = block[blocks.SHARED_MASKS] + 8 * words * thread
    for word in range(words):
        if (peek(before, word) ^ peek(after, word)) & peek(masks, word) != NOTHING:
            return True
    return False


@compiled
def is_quiet(block: Any, successors: Any, count: Any, source: Any) -> Any:
    """Whether none of the successors in the buffer has come about by a change of a shared cell.

    Where steps lead to canonical states, the successors do not tell; then any state may be."""
    if block[blocks.WALK_STEP] != block[blocks.STEP]:
        return True
    for successor in range(count):
        target = successors.states + 8 * block[blocks.WORDS] * successor
        thread = np.int64(peek(successors.threads, successor))
        if changes_shared(block, source, target, thread):
            return False
    return True


@compiled
def add_to_walk(block: Any, count: Any) -> Any:
    """Whether the state behind the last one of the walk is new to it; then it belongs to it."""
    words, states, table = block[blocks.STATE_WORDS], block[blocks.WALK], block[blocks.WALK_TABLE]
    mask = np.uint64(block[blocks.WALK_CAPACITY] - 1)
    walk = np.uint64(block[blocks.WALKS])
    record = states + 8 * words * count
    slot = hash_record(record, words) & mask
    while True:
        entry = peek(table, np.int64(slot))
        if entry >> WALK_SHIFT != walk:
            poke(table, np.int64(slot), (walk << WALK_SHIFT) | np.uint64(count))
            return True
        known = states + 8 * words * np.int64(entry & POSITION_MASK)
        if same_words(known, record, words):
            return False
        slot = (slot + ONE) & mask


@compiled
def walk_alone(machine: Any, block: Any, source: Any, thread: Any) -> Any:
    """What comes of a thread that goes on alone from the state at address `source`."""
    words, states = block[blocks.STATE_WORDS], block[blocks.WALK]
    room = block[blocks.WALK_ROOM]
    watching = machine.observers[thread] != 0
    block[blocks.WALKS] += 1
    for word in range(words):
        poke(states, word, peek(source, word))
    add_to_walk(block, 0)
    count, position = 1, 0
    while position < count:
        here = states + 8 * words * position
        moved = False
        for choice in range(choices_at(machine, here, thread)):
            if count >= room:
                return NO_ROOM
            target = states + 8 * words * count
            result = call_step(block[blocks.WALK_STEP], here, thread, choice, target, 0)
            if result < 0:
                continue
            moved = True
            if result >> 32 != 0:
                if watching:
                    continue
                return GOES_ON
            if changes_shared(block, here, target, thread):
                return GOES_ON
            if add_to_walk(block, count):
                count += 1
        if not moved and not watching:
            if position > 0:
                return GOES_ON
            return RESTS
        position += 1
    return RESTS if watching else GOES_ROUND


@compiled
def hang_at(machine: Any, block: Any, source: Any) -> Any:
    """QUIET if the state at address `source` may be a hang, WALK_FULL if there is no room to find
    out.  What threads that are stopped or have failed mean to it is decided in Python."""
    spare = block[blocks.WALK]
    for thread in range(machine.threads):
        result = call_step(block[blocks.WALK_STEP], source, thread, np.int64(0), spare, 0)
        if result < 0 or machine.observers[thread] != 0:
            continue
        if result >> 32 != 0 or changes_shared(block, source, spare, thread):
            return blocks.DONE
    moving = False
    for thread in range(machine.threads):
        alone = walk_alone(machine, block, source, thread)
        if alone == NO_ROOM:
            return blocks.WALK_FULL
        if alone == GOES_ON:
            return blocks.DONE
        moving |= alone == GOES_ROUND
    return blocks.QUIET if moving else blocks.DONE
