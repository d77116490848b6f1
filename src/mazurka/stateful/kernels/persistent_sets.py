"""What the threads do in a state, and who may interfere with whom (paper 004).

`stateful.reference.stubborn` has the same in plain Python and is the one to read first; sets are
made of it in `mazurka.stateful.kernels.persistent_choice`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import call_step, compiled, numbers_at, peek, poke, words_at

WAITS, STOPPED, INVALID = -1, -2, -4
NONE = np.uint64(0)
ONE = np.uint64(1)

KNOWN, ENABLED = blocks.EXAMINED_KNOWN, blocks.EXAMINED_ENABLED
WAITING, STOPPED_SET = blocks.EXAMINED_WAITING, blocks.EXAMINED_STOPPED
DEAD_END, RELATED = blocks.EXAMINED_DEAD_END, blocks.EXAMINED_RELATED
PATTERN_FACTOR, PATTERN_SHIFT = np.uint64(blocks.PATTERN_FACTOR), np.uint64(blocks.PATTERN_SHIFT)
MISSING = -1

PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


class Examined(NamedTuple):
    """The state at hand (`mazurka.stateful.blocks` explains the arrays)."""

    sets: Any
    places: Any
    conflicts: Any
    now: Any
    later: Any
    columns: Any
    own: Any
    waiting_for: Any
    column_words: Any
    traits: Any
    footprint: Any
    locks: Any
    """How many locks patterns are made of."""
    states: Any
    """The successor by each thread's first choice, and a spare state."""
    results: Any
    """What the step function said about the first choice of each thread."""


@compiled
def examined_in(block: Any) -> Any:
    threads, states = block[blocks.THREADS], block[blocks.BUFFER]
    return Examined(
        words_at(block[blocks.EXAMINED]),
        numbers_at(block[blocks.PLACES_AT]),
        words_at(block[blocks.CONFLICTS]),
        block[blocks.NOW],
        block[blocks.LATER],
        numbers_at(block[blocks.COLUMNS]),
        block[blocks.OWN],
        block[blocks.WAITING_FOR],
        block[blocks.COLUMN_WORDS],
        numbers_at(block[blocks.TRAITS]),
        block[blocks.FOOTPRINT],
        block[blocks.LOCK_COUNT],
        states,
        states + 8 * block[blocks.WORDS] * (threads + 1),
    )


@compiled
def bit_of(thread: Any) -> Any:
    return ONE << np.uint64(thread)


@compiled
def size_of(threads: Any) -> Any:
    """How many bits are set: counted in pairs, fours and bytes, and added up by a product."""
    threads -= (threads >> ONE) & PAIRS
    threads = (threads & FOURS) + ((threads >> np.uint64(2)) & FOURS)
    threads = (threads + (threads >> np.uint64(4))) & EIGHTS
    return np.int64((threads * BYTES) >> np.uint64(56))


@compiled
def first_of(threads: Any) -> Any:
    """The first thread of a set that is not empty."""
    return size_of(~threads & (threads - ONE))


@compiled
def all_threads(machine: Any) -> Any:
    return (bit_of(machine.threads - 1) << ONE) - ONE


@compiled
def begin(machine: Any, at: Any, source: Any) -> Any:
    """Forget the last state, and see where the threads are in the one at address `source`."""
    for position in range(blocks.EXAMINED_WORDS):
        at.sets[position] = NONE
    for thread in range(machine.threads):
        word = peek(source, machine.counter_word[thread])
        code = (word >> machine.counter_shift[thread]) & machine.counter_mask[thread]
        at.places[thread] = machine.choice_offset[thread] + np.int64(code)


@compiled
def add_column(bits: Any, column: Any) -> Any:
    if column >= 0:
        word = column >> 6
        poke(bits, word, peek(bits, word) | (ONE << np.uint64(column & 63)))


@compiled
def probe(machine: Any, at: Any, source: Any, thread: Any) -> Any:
    """Try all steps of a thread: whether it can move, and what it touches; False without room."""
    reads = at.now + 16 * at.column_words * thread
    writes = reads + 8 * at.column_words
    for word in range(2 * at.column_words):
        poke(reads, word, peek(at.own, 2 * at.column_words * at.places[thread] + word))
    bit = bit_of(thread)
    for choice in range(machine.choices[at.places[thread]]):
        slot = thread if choice == 0 else machine.threads
        target = at.states + 8 * machine.words * slot
        poke(at.footprint, 1, NONE)
        result = call_step(machine.recording_step, source, thread, choice, target, at.footprint)
        if choice == 0:
            poke(at.results, thread, np.uint64(result))
        if result == INVALID:
            continue
        count = np.int64(peek(at.footprint, 1))
        if count > np.int64(peek(at.footprint, 0)):
            return False
        for position in range(count):
            entry = np.int64(peek(at.footprint, 2 + position))
            add_column(writes if entry & 1 else reads, at.columns[entry >> 1])
        note_outcome(at, bit, result)
    if (at.sets[ENABLED] & ~at.sets[DEAD_END]) & bit == NONE:
        for word in range(at.column_words):
            waited_for = peek(at.waiting_for, 2 * at.column_words * at.places[thread] + word)
            poke(reads, word, peek(reads, word) | waited_for)
    at.sets[KNOWN] |= bit
    return True


@compiled
def probe_all(machine: Any, at: Any, source: Any) -> Any:
    for thread in range(machine.threads):
        if at.sets[KNOWN] & bit_of(thread) == NONE and not probe(machine, at, source, thread):
            return blocks.FOOTPRINT_FULL
    return blocks.DONE


@compiled
def note_outcome(at: Any, bit: Any, result: Any) -> Any:
    if result >= 0:
        at.sets[ENABLED] |= bit
        if result >> 32 >= blocks.FIRST_DEAD_END:
            at.sets[DEAD_END] |= bit
    elif result == WAITS:
        at.sets[WAITING] |= bit
    elif result == STOPPED:
        at.sets[STOPPED_SET] |= bit


@compiled
def locks_held(block: Any, source: Any, thread: Any, threads: Any) -> Any:
    """The locks that a thread holds, as bits."""
    held = NONE
    locks, codes = block[blocks.LOCKS], block[blocks.LOCK_CODES]
    for lock in range(block[blocks.LOCK_COUNT]):
        base = lock * blocks.LOCK_FIELDS
        word = peek(source, np.int64(peek(locks, base + blocks.LOCK_WORD)))
        code = (word >> peek(locks, base + blocks.LOCK_SHIFT)) & peek(
            locks, base + blocks.LOCK_MASK
        )
        if code == peek(codes, lock * threads + thread):
            held |= ONE << np.uint64(lock)
    return held


@compiled
def pattern_of(block: Any, held: Any) -> Any:
    """The number of the pattern for a set of locks; MISSING where there is none yet."""
    if held == NONE:
        return np.int64(0)
    table, mask = block[blocks.PATTERNS], np.uint64(block[blocks.PATTERN_CAPACITY] - 1)
    slot = np.int64((held * PATTERN_FACTOR) >> PATTERN_SHIFT & mask)
    while True:
        found = peek(table, 2 * slot)
        if found == held:
            return np.int64(peek(table, 2 * slot + 1))
        if found == NONE:
            block[blocks.HELD] = np.int64(held)
            return np.int64(MISSING)
        slot = np.int64(np.uint64(slot + 1) & mask)


@compiled
def interferes(at: Any, thread: Any, enabled: Any, later: Any) -> Any:
    """Whether what another thread may do, at address `later`, conflicts with a thread's step.

    To a thread that cannot move only writes to what it has read matter: they may enable it.
    """
    length = at.column_words
    reads = at.now + 16 * length * thread
    for word in range(length):
        read, written = peek(reads, word), peek(reads, length + word)
        later_read, later_written = peek(later, word), peek(later, length + word)
        if not enabled:
            if later_written & read != NONE:
                return True
        elif later_written & (read | written) | later_read & written != NONE:
            return True
    return False


@compiled
def relate(machine: Any, block: Any, at: Any, source: Any, thread: Any) -> Any:
    """Find the threads that must be in every set with this one; False where a pattern is missing.

    Rule 2(a) of Algo 2 for a thread that cannot move, rule 2(b) for one that can.
    """
    bit = bit_of(thread)
    others = all_threads(machine) & ~bit
    enabled = at.sets[ENABLED] & bit != NONE
    found = NONE
    if enabled and at.traits[at.places[thread]] & blocks.TRAIT_STICKY:
        found = others
    else:
        pattern = np.int64(0)
        if enabled and at.locks:
            pattern = pattern_of(block, locks_held(block, source, thread, machine.threads))
            if pattern == MISSING:
                return False
        first = pattern * block[blocks.CHOICES_LENGTH]
        for other in range(machine.threads):
            if other != thread:
                row = first + at.places[other]
                if interferes(at, thread, enabled, at.later + 16 * at.column_words * row):
                    found |= bit_of(other)
    at.conflicts[thread] = found
    at.sets[RELATED] |= bit
    return True
