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

from mazurka.stateful.machine import compiled
from mazurka.stateful.memory import Words, reserve, scattered

TAKEN = np.uint64(1 << 63)
NOTHING = np.uint64(0)
ONE = np.uint64(1)
POSITION_MASK = np.uint64((1 << 40) - 1)
TAG_MASK = np.uint64(~((1 << 40) - 1) & (1 << 64) - 1)

FIRST_CAPACITY = 1 << 12
MOST_LOAD = 0.75
LAST_LOAD = 0.92
"""How full a table may become when there is no memory for a larger one."""


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
    """The hash of `count` words of an array."""
    value = mix(words[start])
    for position in range(1, count):
        value = mix(value ^ words[start + position]) + np.uint64(position)
    return value


@compiled
def insert_inline(table: Any, mask: Any, word: Any) -> Any:
    """Add a one-word state; whether it is new."""
    key = word | TAKEN
    slot = mix(word) & mask
    while True:
        found = table[slot]
        if found == key:
            return False
        if found == NOTHING:
            table[slot] = key
            return True
        slot = (slot + ONE) & mask


@compiled
def insert_logged(
    table: Any, mask: Any, log: Any, size: Any, words: Any, buffer: Any, start: Any, hashed: Any
) -> Any:
    """Add the state at `buffer[start:]`; its position in the log, which is `size` if it is new.

    A new state is written behind the log's end; the caller counts it.
    """
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
def add_first(tables: Any, inline: Any, size: Any, words: Any, buffer: Any) -> Any:
    """Put a state into a store from Python: the initial one."""
    if inline:
        insert_inline(tables.table, tables.mask, buffer[0])
    else:
        hashed = hash_words(buffer, 0, words)
        insert_logged(tables.table, tables.mask, tables.log, size, words, buffer, 0, hashed)


@compiled
def rehash_inline(old: Any, new: Any, mask: Any) -> Any:
    for entry in old:
        if entry != NOTHING:
            slot = mix(entry & ~TAKEN) & mask
            while new[slot] != NOTHING:
                slot = (slot + ONE) & mask
            new[slot] = entry


@compiled
def rehash_logged(log: Any, size: Any, words: Any, new: Any, mask: Any) -> Any:
    for position in range(size):
        hashed = hash_words(log, position * words, words)
        slot = hashed & mask
        while new[slot] != NOTHING:
            slot = (slot + ONE) & mask
        new[slot] = (hashed & TAG_MASK) | np.uint64(position + 1)


class Tables(NamedTuple):
    """The arrays of a store, as the compiled searches see them."""

    table: Words
    mask: np.uint64
    log: Words


class Store:
    """Owns a store's arrays and lets them grow within a limit of bytes."""

    def __init__(self, words: int, *, inline: bool, limit_bytes: int) -> None:
        assert not inline or words == 1
        self.words = words
        self.inline = inline
        self.limit_bytes = limit_bytes
        self.capacity = FIRST_CAPACITY
        self.table = scattered(self.capacity)
        self.log = reserve(1 if inline else limit_bytes // 8)
        self.full_at = int(self.capacity * MOST_LOAD)
        self.peak_bytes = 0

    @property
    def tables(self) -> Tables:
        return Tables(self.table, np.uint64(self.capacity - 1), self.log)

    def used_bytes(self, states: int) -> int:
        return self.capacity * 8 + (0 if self.inline else states * self.words * 8)

    def grow(self, states: int, other_bytes: int) -> bool:
        """Make room for more states; False where the limit forbids it."""
        larger = 2 * self.capacity
        during = self.used_bytes(states) + larger * 8 + other_bytes
        if during > self.limit_bytes:
            last = int(self.capacity * LAST_LOAD)
            if self.full_at >= last or during - larger * 8 >= self.limit_bytes:
                return False
            self.full_at = last
            return True
        table = scattered(larger)
        if self.inline:
            rehash_inline(self.table, table, np.uint64(larger - 1))
        else:
            rehash_logged(self.log, states, self.words, table, np.uint64(larger - 1))
        self.peak_bytes = max(self.peak_bytes, during)
        self.table, self.capacity = table, larger
        self.full_at = int(larger * MOST_LOAD)
        return True
