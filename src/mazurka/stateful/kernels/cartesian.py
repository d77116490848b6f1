"""Cartesian partial-order reduction: the checker (Fig. 7 of paper 003) and its parts (Fig. 8).

States are expanded in the order of discovery; the store holds CoveredSet and what is left of
WorkSet together, so that each state is expanded once.  Where a vector contains a fault, or leads
to a deadlock, the search comes back to Python, which finds the schedule.

Several workers make vectors at the same time (JOB_COLLECT), each in a block of its own; they only
look at the store, and put what is not in there into their outboxes.  When all have come back, one
of them enters the outboxes in the store (JOB_MERGE), in the order of the states that the vectors
belong to.  So the states get the positions that they have in a search by one worker.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import block_at, compiled, machine_in, peek, poke
from mazurka.stateful.kernels.prefixes import state_of, vector_in
from mazurka.stateful.kernels.store import (
    ABSENT,
    NOTHING,
    find_logged,
    hash_record,
    insert_logged,
    tables_in,
)
from mazurka.stateful.kernels.vectors import DEAD_END, INFINITE, calc_cv, stuck_together

POSITION_SHIFT = np.uint64(blocks.ORIGIN_POSITION_SHIFT)
THREAD_SHIFT = np.uint64(blocks.ORIGIN_THREAD_SHIFT)


@compiled
def move_of(vector: Any, prefix: Any) -> Any:
    """The first move of a prefix, as a part of an origin."""
    base = prefix * blocks.PREFIX_FIELDS
    thread = np.uint64(vector.prefixes[base + blocks.PREFIX_THREAD])
    return (thread << THREAD_SHIFT) | np.uint64(vector.prefixes[base + blocks.PREFIX_CHOICE])


@compiled
def goes_on(vector: Any, prefix: Any) -> Any:
    flags = vector.prefixes[prefix * blocks.PREFIX_FIELDS + blocks.PREFIX_FLAGS]
    return flags & (INFINITE | DEAD_END) == 0


@compiled
def verify(machine: Any, block: Any, vector: Any) -> Any:
    """What Python must see of a vector: a fault, a deadlock behind it, or nothing (DONE)."""
    count = block[blocks.PREFIX_COUNT]
    block[blocks.STUCK_TOGETHER] = machine.deadlock_wanted and stuck_together(
        machine, vector, count
    )
    for prefix in range(count):
        if vector.prefixes[prefix * blocks.PREFIX_FIELDS + blocks.PREFIX_FAULT] != 0:
            return blocks.FAULT
    return blocks.STUCK if block[blocks.STUCK_TOGETHER] != 0 else blocks.DONE


@compiled
def enter_origin(block: Any, position: Any, before: Any, move: Any, length: Any) -> Any:
    """Note where a new state comes from."""
    poke(block[blocks.ORIGINS], position, (np.uint64(before) << POSITION_SHIFT) | move)
    poke(block[blocks.LENGTHS], position, length)


@compiled
def enter_level(block: Any, position: Any, size: Any) -> Any:
    """Count the levels of the search: END is where the one of `position` ends."""
    if position == block[blocks.END]:
        block[blocks.END] = size
        block[blocks.DEEPEST] += 1


@compiled
def push_ends(block: Any, vector: Any, tables: Any, position: Any, size: Any) -> Any:
    """Add the ends of the prefixes to WorkSet; the number of states."""
    for prefix in range(block[blocks.PREFIX_COUNT]):
        if not goes_on(vector, prefix):
            continue
        state = state_of(vector, prefix)
        found = insert_logged(tables, size, vector.words, state, hash_record(state, vector.words))
        if found == size:
            base = prefix * blocks.PREFIX_FIELDS
            length = np.uint64(vector.prefixes[base + blocks.PREFIX_LENGTH])
            enter_origin(block, size, position, move_of(vector, prefix), length)
            size += 1
    return size


@compiled
def search(block: Any) -> Any:
    """Fig. 7: search on until something needs Python's attention; the reason."""
    machine, tables = machine_in(block), tables_in(block)
    words, full_at = machine.words, block[blocks.FULL_AT]
    size, position = block[blocks.SIZE], block[blocks.POSITION]
    transitions = block[blocks.TRANSITIONS]
    last = transitions + block[blocks.BUDGET]
    reason = blocks.DONE
    while position < size and reason == blocks.DONE:
        if transitions >= last:
            reason = blocks.SLICE
            break
        if size + block[blocks.MOST_PREFIXES] >= full_at:
            reason = blocks.STORE_FULL
            break
        enter_level(block, position, size)
        source = tables.log + 8 * words * position
        reason = calc_cv(machine, block, source, last - transitions)
        if reason != blocks.DONE:
            break
        vector = vector_in(block)
        transitions += block[blocks.VECTOR_MOVES]
        block[blocks.PAPER_TRANSITIONS] += block[blocks.VECTOR_PAPER]
        size = push_ends(block, vector, tables, position, size)
        reason = verify(machine, block, vector)
        position += 1
    block[blocks.SIZE], block[blocks.POSITION] = size, position
    block[blocks.TRANSITIONS] = transitions
    return reason


# --- Fig. 8 -----------------------------------------------------------------------------------


@compiled
def hand_over(block: Any, vector: Any, tables: Any, found: Any) -> Any:
    """Put the finished vector into the outbox, with those ends that are new to the store."""
    words = vector.words
    header = block[blocks.OUTBOX] + 8 * block[blocks.OUTBOX_USED]
    place, ends = header + 8 * blocks.OUT_FIELDS, 0
    for prefix in range(block[blocks.PREFIX_COUNT]):
        if not goes_on(vector, prefix):
            continue
        state = state_of(vector, prefix)
        hashed = hash_record(state, words)
        if find_logged(tables, words, state, hashed) != ABSENT:
            continue
        base = prefix * blocks.PREFIX_FIELDS
        poke(place, blocks.END_MOVE, move_of(vector, prefix))
        length = np.uint64(vector.prefixes[base + blocks.PREFIX_LENGTH])
        poke(place, blocks.END_LENGTH, length)
        poke(place, blocks.END_HASH, hashed)
        for word in range(words):
            poke(place, blocks.END_FIELDS + word, peek(state, word))
        place += 8 * (blocks.END_FIELDS + words)
        ends += 1
    poke(header, blocks.OUT_PAPER, np.uint64(block[blocks.VECTOR_PAPER]))
    poke(header, blocks.OUT_MOVES, np.uint64(block[blocks.VECTOR_MOVES]))
    poke(header, blocks.OUT_FOUND, np.uint64(found))
    poke(header, blocks.OUT_ENDS, np.uint64(ends))
    block[blocks.OUTBOX_USED] = (place - block[blocks.OUTBOX]) // 8


@compiled
def collect(block: Any) -> Any:
    """A worker's part: the vectors from POSITION to LAST_POSITION, into the outbox."""
    machine, tables = machine_in(block), tables_in(block)
    left = block[blocks.BUDGET]
    while block[blocks.POSITION] < block[blocks.LAST_POSITION]:
        most = blocks.OUT_FIELDS + block[blocks.MOST_PREFIXES] * (blocks.END_FIELDS + machine.words)
        if block[blocks.OUTBOX_USED] + most > block[blocks.OUTBOX_ROOM]:
            return blocks.OUTBOX_FULL
        if left <= 0:
            return blocks.SLICE
        source = tables.log + 8 * machine.words * block[blocks.POSITION]
        reason = calc_cv(machine, block, source, left)
        if reason != blocks.DONE:
            return reason
        vector = vector_in(block)
        found = verify(machine, block, vector) != blocks.DONE
        hand_over(block, vector, tables, found)
        left -= block[blocks.VECTOR_MOVES]
        block[blocks.POSITION] += 1
    return blocks.DONE


@compiled
def merge(block: Any) -> Any:
    """Enter the rest of an outbox; its first vector belongs to the state at POSITION."""
    tables, words = tables_in(block), block[blocks.WORDS]
    size, step = block[blocks.SIZE], 8 * (blocks.END_FIELDS + words)
    reason = blocks.DONE
    while block[blocks.OUTBOX_READ] < block[blocks.OUTBOX_USED] and reason == blocks.DONE:
        header = block[blocks.OUTBOX] + 8 * block[blocks.OUTBOX_READ]
        ends = np.int64(peek(header, blocks.OUT_ENDS))
        if size + ends >= block[blocks.FULL_AT]:
            reason = blocks.STORE_FULL
            break
        enter_level(block, block[blocks.POSITION], size)
        place = header + 8 * blocks.OUT_FIELDS
        for _ in range(ends):
            state, hashed = place + 8 * blocks.END_FIELDS, peek(place, blocks.END_HASH)
            if insert_logged(tables, size, words, state, hashed) == size:
                move, length = peek(place, blocks.END_MOVE), peek(place, blocks.END_LENGTH)
                enter_origin(block, size, block[blocks.POSITION], move, length)
                size += 1
            place += step
        block[blocks.PAPER_TRANSITIONS] += np.int64(peek(header, blocks.OUT_PAPER))
        block[blocks.TRANSITIONS] += np.int64(peek(header, blocks.OUT_MOVES))
        if peek(header, blocks.OUT_FOUND) != NOTHING:
            reason = blocks.FOUND
        block[blocks.POSITION] += 1
        block[blocks.OUTBOX_READ] = (place - block[blocks.OUTBOX]) // 8
    block[blocks.SIZE] = size
    return reason


@compiled
def inspect(block: Any) -> Any:
    """Make the vector of the state before POSITION once more, for Python to look at."""
    machine, tables = machine_in(block), tables_in(block)
    source = tables.log + 8 * machine.words * (block[blocks.POSITION] - 1)
    reason = calc_cv(machine, block, source, block[blocks.BUDGET])
    return verify(machine, block, vector_in(block)) if reason == blocks.DONE else reason


@compiled
def run(address: Any) -> Any:
    """Do the JOB that the block names."""
    block = block_at(address)
    job = block[blocks.JOB]
    if job == blocks.JOB_COLLECT:
        return collect(block)
    if job == blocks.JOB_MERGE:
        return merge(block)
    if job == blocks.JOB_INSPECT:
        return inspect(block)
    if block[blocks.SIZE] == 0:
        initial = block[blocks.BUFFER]
        insert_logged(
            tables_in(block),
            0,
            block[blocks.WORDS],
            initial,
            hash_record(initial, block[blocks.WORDS]),
        )
        block[blocks.SIZE] = 1
    return search(block)
