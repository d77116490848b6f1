"""The set of visited states: open addressing with linear probing, growing by doubling.

Two shapes of one set, and a sketch of it.  *Inline*: states of one word lie in the table itself (8
bytes a slot), with the top bit, which packing leaves free, marking a slot as taken.  *Logged*:
states lie one behind the other in a log, in order of discovery, and a slot holds a position in the
log with 24 bits of the hash beside it; this serves states of any size, and searches that need a
state's number (breadth-first search, and reductions that keep something for each state).  *As
bits*: a state is some bits of the table, at places that its hash tells; a state whose bits are all
set, perhaps by others, is taken for a known one (`mazurka.stateful.beyond_memory.bitstate`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import block_at, compiled, peek, poke, prefetch

TAKEN = np.uint64(1 << 63)
NOTHING = np.uint64(0)
ONE = np.uint64(1)
POSITION_MASK = np.uint64((1 << 40) - 1)
TAG_MASK = np.uint64(~((1 << 40) - 1) & (1 << 64) - 1)
ABSENT = -1


SECOND_HASH = np.uint64(0x2545F4914F6CDD1D)
BIT_SHIFT = np.uint64(58)
"""The upper six bits of a hash number a bit in a word; the lower ones number the word."""

BATCH = 16
"""Entries that are moved together when a table grows, their new places fetched ahead."""


class Tables(NamedTuple):
    """Where the table and the log lie, and the mask that makes a slot of a hash."""

    table: Any
    mask: Any
    log: Any


@compiled
def tables_in(block: Any) -> Any:
    return Tables(block[blocks.TABLE], np.uint64(block[blocks.CAPACITY] - 1), block[blocks.LOG])


@compiled
def mix(word: Any) -> Any:
    """Spread a word's bits over all 64 (multiply and fold, twice)."""
    word = word * np.uint64(0x9E3779B97F4A7C15)
    word ^= word >> np.uint64(32)
    word = word * np.uint64(0xD6E8FEB86659FD93)
    word ^= word >> np.uint64(29)
    return word


@compiled
def hash_record(address: Any, words: Any) -> Any:
    """The hash of the words at an address.

    They are multiplied side by side, each by an odd number of its own, and mixed together.  The
    numbers are powers of one: numbers at equal distances would give the same hash to states whose
    words differ by 1, -2 and 1.
    """
    value = peek(address, 0)
    factor = np.uint64(0xA0761D6478BD642F)
    for position in range(1, words):
        word = peek(address, position)
        value += (word ^ (word >> np.uint64(31))) * factor
        factor *= np.uint64(0xE7037ED1A0B428DB)
    return mix(value)


@compiled
def insert_inline(tables: Any, word: Any, hashed: Any) -> Any:
    """Add a one-word state; whether it is new."""
    key = word | TAKEN
    slot = hashed & tables.mask
    while True:
        found = peek(tables.table, np.int64(slot))
        if found == key:
            return False
        if found == NOTHING:
            poke(tables.table, np.int64(slot), key)
            return True
        slot = (slot + ONE) & tables.mask


@compiled
def insert_bits(tables: Any, hashes: Any, hashed: Any) -> Any:
    """Set the bits of the state with a given hash; whether one of them was not set."""
    step = mix(hashed ^ SECOND_HASH) | ONE
    new = False
    for _ in range(hashes):
        word, bit = np.int64(hashed & tables.mask), ONE << (hashed >> BIT_SHIFT)
        found = peek(tables.table, word)
        if found & bit == NOTHING:
            poke(tables.table, word, found | bit)
            new = True
        hashed += step
    return new


@compiled
def insert_logged(tables: Any, size: Any, words: Any, record: Any, hashed: Any) -> Any:
    """Add the state at address `record`; its position in the log, which is `size` if it is new.

    A new state is written behind the log's end; the caller counts it.
    """
    tag = hashed & TAG_MASK
    slot = hashed & tables.mask
    while True:
        entry = peek(tables.table, np.int64(slot))
        if entry == NOTHING:
            poke(tables.table, np.int64(slot), tag | np.uint64(size + 1))
            copy_words(tables.log + 8 * words * size, record, words)
            return size
        if entry & TAG_MASK == tag:
            candidate = np.int64(entry & POSITION_MASK) - 1
            if same_words(tables.log + 8 * words * candidate, record, words):
                return candidate
        slot = (slot + ONE) & tables.mask


@compiled
def find_logged(tables: Any, words: Any, record: Any, hashed: Any) -> Any:
    """The position in the log of the state at address `record`; ABSENT if it is not there."""
    tag = hashed & TAG_MASK
    slot = hashed & tables.mask
    while True:
        entry = peek(tables.table, np.int64(slot))
        if entry == NOTHING:
            return np.int64(ABSENT)
        if entry & TAG_MASK == tag:
            candidate = np.int64(entry & POSITION_MASK) - 1
            if same_words(tables.log + 8 * words * candidate, record, words):
                return candidate
        slot = (slot + ONE) & tables.mask


@compiled
def same_words(one: Any, other: Any, words: Any) -> Any:
    for position in range(words):  # noqa: SIM110 - kernels have no generators
        if peek(one, position) != peek(other, position):
            return False
    return True


@compiled
def copy_words(target: Any, source: Any, words: Any) -> Any:
    for position in range(words):
        poke(target, position, peek(source, position))


@compiled
def fetch_slot(tables: Any, hashed: Any) -> Any:
    """Bring in the slot for a hash."""
    prefetch(tables.table + 8 * np.int64(hashed & tables.mask))


@compiled
def fetch_logged(tables: Any, words: Any, hashed: Any) -> Any:
    """Bring in the state that the first slot for a hash points to, if it may be the same."""
    entry = peek(tables.table, np.int64(hashed & tables.mask))
    if entry & TAG_MASK == hashed & TAG_MASK:
        prefetch(tables.log + 8 * words * (np.int64(entry & POSITION_MASK) - 1))


@compiled
def slot_position(tables: Any, hashed: Any) -> Any:
    """The position in the log that the first slot for a hash names, 0 if it is free."""
    entry = np.int64(peek(tables.table, np.int64(hashed & tables.mask)) & POSITION_MASK)
    return max(entry - 1, np.int64(0))


@compiled
def put_first_free(tables: Any, hashed: Any, entry: Any) -> Any:
    """Enter what is known not to be in the table yet."""
    slot = hashed & tables.mask
    while peek(tables.table, np.int64(slot)) != NOTHING:
        slot = (slot + ONE) & tables.mask
    poke(tables.table, np.int64(slot), entry)


@compiled
def run(address: Any) -> Any:
    """Move the entries of the old table to the new, larger one."""
    block = block_at(address)
    tables = tables_in(block)
    if block[blocks.INLINE] == blocks.IN_TABLE:
        old, length = block[blocks.OLD_TABLE], block[blocks.OLD_CAPACITY]
        for first in range(0, length, BATCH):
            last = min(first + BATCH, length)
            for slot in range(first, last):
                fetch_slot(tables, mix(peek(old, slot) & ~TAKEN))
            for slot in range(first, last):
                entry = peek(old, slot)
                if entry != NOTHING:
                    put_first_free(tables, mix(entry & ~TAKEN), entry)
        return 0
    words, size = block[blocks.WORDS], block[blocks.SIZE]
    for first in range(0, size, BATCH):
        last = min(first + BATCH, size)
        for position in range(first, last):
            fetch_slot(tables, hash_record(tables.log + 8 * words * position, words))
        for position in range(first, last):
            hashed = hash_record(tables.log + 8 * words * position, words)
            put_first_free(tables, hashed, (hashed & TAG_MASK) | np.uint64(position + 1))
    return 0
