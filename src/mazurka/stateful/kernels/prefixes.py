"""Prefixes of a cartesian vector: their states, what their steps touch, where they return.

The native side of `Prefix` in `stateful.reference.cartesian`.  What the steps of a vector touch is
kept by cell as sets of threads, valid for one vector (MARK_EPOCH); the last step of each prefix has
its footprint besides, because conflicts between last steps are allowed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import compiled, numbers_at, peek, poke, words_at
from mazurka.stateful.kernels.store import hash_record, same_words

NOT_YET, SEEN, NO_ROOM = range(3)
EPOCH_SHIFT = np.uint64(40)
POSITION_MASK = np.uint64((1 << 40) - 1)
SHORT = np.uint64((1 << 24) - 1)
"""What of the number of a vector stands in PASSED_TABLE."""


class Vector(NamedTuple):
    """The arrays of the vector that is being made (`mazurka.stateful.blocks` explains them)."""

    prefixes: Any
    states: Any
    feet: Any
    room: Any
    """Words for one footprint in `feet`."""
    marks: Any
    mark_epoch: Any
    owners: Any
    footprint: Any
    epoch: Any
    words: Any


@compiled
def vector_in(block: Any) -> Any:
    return Vector(
        numbers_at(block[blocks.PREFIXES]),
        block[blocks.PREFIX_STATES],
        block[blocks.FEET],
        block[blocks.FOOTPRINT_LENGTH],
        words_at(block[blocks.MARKS]),
        numbers_at(block[blocks.MARK_EPOCH]),
        numbers_at(block[blocks.OWNERS]),
        numbers_at(block[blocks.FOOTPRINT]),
        block[blocks.CLOCK],
        block[blocks.WORDS],
    )


@compiled
def state_of(vector: Any, prefix: Any) -> Any:
    return vector.states + 8 * vector.words * prefix


@compiled
def entry_of(vector: Any, position: Any) -> Any:
    """An entry of the last footprint: a cell and whether it is written.

    Another thread's own cells stand for one: its program counter, which all its steps touch.
    """
    entry = vector.footprint[2 + position]
    owner = vector.owners[entry >> 1]
    cell = owner if owner != 0 else entry >> 1
    return cell, entry & 1 == 1


@compiled
def add_own_cells(vector: Any, thread: Any, happened: Any, idle: Any) -> Any:
    """Let an attempt count as a use of its thread's own cells; whether there was room."""
    if idle:
        return True
    count = vector.footprint[1]
    if count >= vector.footprint[0]:
        return False
    vector.footprint[2 + count] = 2 * (thread + 1) + (1 if happened else 0)
    vector.footprint[1] = count + 1
    return True


@compiled
def fresh_marks(vector: Any, cell: Any) -> Any:
    """Where the marks of a cell lie, emptied if they are of an earlier vector."""
    base = cell * blocks.MARK_FIELDS
    if vector.mark_epoch[cell] != vector.epoch:
        vector.mark_epoch[cell] = vector.epoch
        for field in range(blocks.MARK_FIELDS):
            vector.marks[base + field] = np.uint64(0)
    return base


@compiled
def in_conflict(vector: Any, thread: Any, reads: Any, writes: Any) -> Any:
    """The other threads whose marks (fields `reads` and `writes`) conflict with the footprint."""
    found = np.uint64(0)
    for position in range(vector.footprint[1]):
        cell, write = entry_of(vector, position)
        base = fresh_marks(vector, cell)
        found |= vector.marks[base + writes]
        if write:
            found |= vector.marks[base + reads]
    return found & ~(np.uint64(1) << np.uint64(thread))


@compiled
def feet_of(vector: Any, prefix: Any) -> Any:
    return vector.feet + 8 * vector.room * prefix


@compiled
def collides(vector: Any, prefix: Any) -> Any:
    """Whether the footprint conflicts with the last step of a prefix."""
    feet = feet_of(vector, prefix)
    count = vector.prefixes[prefix * blocks.PREFIX_FIELDS + blocks.PREFIX_FEET]
    for position in range(vector.footprint[1]):
        cell, write = entry_of(vector, position)
        for other in range(count):
            entry = np.int64(peek(feet, other))
            if entry >> 1 == cell and (write or entry & 1 == 1):
                return True
    return False


@compiled
def put_last(vector: Any, prefix: Any, thread: Any) -> Any:
    """The footprint becomes that of the prefix's last step; what was last is an earlier one."""
    bit = np.uint64(1) << np.uint64(thread)
    feet = feet_of(vector, prefix)
    field = prefix * blocks.PREFIX_FIELDS + blocks.PREFIX_FEET
    for position in range(vector.prefixes[field]):
        entry = np.int64(peek(feet, position))
        base = fresh_marks(vector, entry >> 1)
        write = entry & 1 == 1
        earlier = blocks.MARK_EARLIER_WRITE if write else blocks.MARK_EARLIER_READ
        vector.marks[base + earlier] |= bit
    for position in range(vector.footprint[1]):
        cell, write = entry_of(vector, position)
        base = fresh_marks(vector, cell)
        vector.marks[base + (blocks.MARK_LAST_WRITE if write else blocks.MARK_LAST_READ)] |= bit
        poke(feet, position, np.uint64(2 * cell + (1 if write else 0)))
    vector.prefixes[field] = vector.footprint[1]


@compiled
def begin_vector(block: Any) -> Any:
    """Number a new vector: all marks and passed states of earlier ones are void."""
    block[blocks.CLOCK] += 1
    if np.uint64(block[blocks.CLOCK]) & SHORT == np.uint64(0):
        for slot in range(block[blocks.PASSED_CAPACITY]):
            poke(block[blocks.PASSED_TABLE], slot, np.uint64(0))
        block[blocks.CLOCK] += 1


@compiled
def passed(block: Any, prefix: Any, state: Any, size: Any, enter: Any) -> Any:
    """Whether a prefix has been in the state at an address; with `enter` it has from now on.

    SEEN, NOT_YET, or NO_ROOM; `size` is how many states have been entered for this vector.
    """
    words, capacity = block[blocks.WORDS], block[blocks.PASSED_CAPACITY]
    table, log = block[blocks.PASSED_TABLE], block[blocks.PASSED]
    epoch = np.uint64(block[blocks.CLOCK]) & SHORT
    mask = np.uint64(capacity - 1)
    slot = (hash_record(state, words) + np.uint64(prefix)) & mask
    while True:
        entry = peek(table, np.int64(slot))
        if entry >> EPOCH_SHIFT != epoch:
            break
        place = log + 8 * (words + 1) * np.int64(entry & POSITION_MASK)
        if peek(place, 0) == np.uint64(prefix) and same_words(place + 8, state, words):
            return SEEN
        slot = (slot + np.uint64(1)) & mask
    if not enter:
        return NOT_YET
    if 2 * (size + 1) > capacity:
        return NO_ROOM
    place = log + 8 * (words + 1) * size
    poke(place, 0, np.uint64(prefix))
    for word in range(words):
        poke(place + 8, word, peek(state, word))
    poke(table, np.int64(slot), (epoch << EPOCH_SHIFT) | np.uint64(size))
    return NOT_YET
