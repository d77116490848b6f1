"""The set of visited states: open addressing with linear probing, growing by doubling.

Two shapes of one set.  *Inline*: states of one word lie in the table itself (8 bytes a slot),
with the top bit, which packing leaves free, marking a slot as taken.  *Logged*: states lie one
behind the other in a log, in order of discovery, and a slot holds a position in the log with 24
bits of the hash beside it; this serves states of any size, and searches that need a state's
number (breadth-first search, and reductions that keep something for each state).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import block_at, compiled, prefetch, words_at

TAKEN = np.uint64(1 << 63)
NOTHING = np.uint64(0)
ONE = np.uint64(1)
POSITION_MASK = np.uint64((1 << 40) - 1)
TAG_MASK = np.uint64(~((1 << 40) - 1) & (1 << 64) - 1)


BATCH = 16
"""Entries that are moved together when a table grows, their new places fetched ahead."""


class Tables(NamedTuple):
    table: Any
    mask: Any
    log: Any


@compiled
def tables_in(block: Any) -> Any:
    capacity = block[blocks.CAPACITY]
    return Tables(
        words_at(block[blocks.TABLE], capacity),
        np.uint64(capacity - 1),
        words_at(block[blocks.LOG], block[blocks.LOG_LENGTH]),
    )


@compiled
def mix(word: Any) -> Any:
    """Spread a word's bits over all 64 (multiply and fold, twice)."""
    word = word * np.uint64(0x9E3779B97F4A7C15)
    word ^= word >> np.uint64(32)
    word = word * np.uint64(0xD6E8FEB86659FD93)
    word ^= word >> np.uint64(29)
    return word


@compiled
def hash_words(words: Any, start: Any, count: Any) -> Any:
    """The hash of `count` words of an array.

    The words are multiplied side by side, each by an odd number of its own, and mixed together.
    """
    value = words[start]
    factor = np.uint64(0xA0761D6478BD642F)
    for position in range(1, count):
        word = words[start + position]
        value += (word ^ (word >> np.uint64(31))) * factor
        factor += np.uint64(0xE7037ED1A0B428DA)
    return mix(value)


@compiled
def insert_inline(table: Any, mask: Any, word: Any, hashed: Any) -> Any:
    """Add a one-word state; whether it is new."""
    key = word | TAKEN
    slot = hashed & mask
    while True:
        found = table[slot]
        if found == key:
            return False
        if found == NOTHING:
            table[slot] = key
            return True
        slot = (slot + ONE) & mask


@compiled
def insert_logged(tables: Any, size: Any, words: Any, buffer: Any, start: Any, hashed: Any) -> Any:
    """Add the state at `buffer[start:]`; its position in the log, which is `size` if it is new.

    A new state is written behind the log's end; the caller counts it.
    """
    table, mask, log = tables
    tag = hashed & TAG_MASK
    slot = hashed & mask
    while True:
        entry = table[slot]
        if entry == NOTHING:
            table[slot] = tag | np.uint64(size + 1)
            base = size * words
            for position in range(words):
                log[base + position] = buffer[start + position]
            return size
        if entry & TAG_MASK == tag:
            candidate = np.int64(entry & POSITION_MASK) - 1
            base = candidate * words
            same = True
            for position in range(words):
                if log[base + position] != buffer[start + position]:
                    same = False
                    break
            if same:
                return candidate
        slot = (slot + ONE) & mask


@compiled
def fetch_logged(tables: Any, log_address: Any, words: Any, hashed: Any) -> Any:
    """Bring in the state that the first slot for a hash points to, if it may be the same."""
    entry = tables.table[hashed & tables.mask]
    if entry & TAG_MASK == hashed & TAG_MASK:
        prefetch(log_address + 8 * words * (np.int64(entry & POSITION_MASK) - 1))


@compiled
def run(address: Any) -> Any:
    """Move the entries of the old table to the new, larger one."""
    block = block_at(address)
    table, mask, log = tables_in(block)
    if block[blocks.INLINE]:
        old = words_at(block[blocks.OLD_TABLE], block[blocks.OLD_CAPACITY])
        for first in range(0, old.size, BATCH):
            for entry in old[first : first + BATCH]:
                prefetch(block[blocks.TABLE] + 8 * np.int64(mix(entry & ~TAKEN) & mask))
            for entry in old[first : first + BATCH]:
                if entry != NOTHING:
                    slot = mix(entry & ~TAKEN) & mask
                    while table[slot] != NOTHING:
                        slot = (slot + ONE) & mask
                    table[slot] = entry
        return 0
    words, size = block[blocks.WORDS], block[blocks.SIZE]
    for first in range(0, size, BATCH):
        last = min(first + BATCH, size)
        for position in range(first, last):
            prefetch(
                block[blocks.TABLE] + 8 * np.int64(hash_words(log, position * words, words) & mask)
            )
        for position in range(first, last):
            hashed = hash_words(log, position * words, words)
            slot = hashed & mask
            while table[slot] != NOTHING:
                slot = (slot + ONE) & mask
            table[slot] = (hashed & TAG_MASK) | np.uint64(position + 1)
    return 0
