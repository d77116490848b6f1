"""Breadth-first search: counterexamples are shortest.

States lie in the store's log in order of discovery, so the log is the queue: a level is a range
of positions.  Beside each state its origin is kept: the position it was reached from and the move.
All successors of a state are made before any of them is looked up, and their places in the table
are fetched ahead meanwhile.

The search can also be told to take only the moves of the thread that moved last (the last word of
a record), or only those of the others; `mazurka.stateful.minimize` searches by context switches so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import (
    block_at,
    call_step,
    choices_at,
    compiled,
    machine_in,
    numbers_at,
    prefetch,
    words_at,
)
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.store import hash_words, insert_logged, tables_in

POSITION_SHIFT = np.uint64(blocks.ORIGIN_POSITION_SHIFT)
THREAD_SHIFT = np.uint64(blocks.ORIGIN_THREAD_SHIFT)
THREAD_MASK = np.uint64((1 << (blocks.ORIGIN_POSITION_SHIFT - blocks.ORIGIN_THREAD_SHIFT)) - 1)
CHOICE_MASK = np.uint64((1 << blocks.ORIGIN_THREAD_SHIFT) - 1)


class Successors(NamedTuple):
    """The successors of one state, in the buffer: states, then hashes, moves and results."""

    base: Any
    states: Any
    hashes: Any
    moves: Any
    results: Any


@compiled
def successors_in(block: Any) -> Any:
    base, most = block[blocks.BUFFER], block[blocks.MOST_SUCCESSORS]
    length = most * block[blocks.WORDS]
    behind = base + 8 * length
    return Successors(
        base,
        words_at(base, length),
        words_at(behind, most),
        words_at(behind + 8 * most, most),
        numbers_at(behind + 16 * most, most),
    )


@compiled
def gather(
    block: Any, machine: Any, tables: Any, successors: Any, start: Any, moves: Any, last: Any
) -> Any:
    """Execute the wanted moves of a state; how many succeed, and whether it is a deadlock."""
    source = block[blocks.LOG] + 8 * start
    words = machine.words
    count = 0
    moved = waiting = stopped = False
    for thread in range(machine.threads):
        if moves == blocks.SAME_THREAD and thread != last:
            continue
        kept = moves != blocks.OTHER_THREADS or thread != last
        bound = np.int64(1)
        if machine.any_choice:
            bound = choices_at(machine, tables.log, start, thread)
        for choice in range(bound):
            target = successors.base + 8 * words * count
            result = call_step(machine.step, source, thread, choice, target, 0)
            if result < 0:
                if machine.observers[thread] == 0:
                    waiting |= result == -1
                    stopped |= result == -2
                continue
            moved |= machine.observers[thread] == 0
            if not kept:
                continue
            if moves != blocks.ALL_MOVES:
                successors.states[count * words + words - 1] = np.uint64(thread)
            hashed = hash_words(successors.states, count * words, words)
            prefetch(block[blocks.TABLE] + 8 * np.int64(hashed & tables.mask))
            successors.hashes[count] = hashed
            successors.moves[count] = (np.uint64(thread) << THREAD_SHIFT) | np.uint64(choice)
            successors.results[count] = result
            count += 1
    return count, waiting and not moved and not stopped


@compiled
def start(block: Any) -> Any:
    """Put the initial records, which lie in the buffer up to END, into the store."""
    tables = tables_in(block)
    words = block[blocks.WORDS]
    buffer = words_at(block[blocks.BUFFER], block[blocks.END] * words)
    for position in range(block[blocks.END]):
        hashed = hash_words(buffer, position * words, words)
        insert_logged(tables, position, words, buffer, position * words, hashed)
    block[blocks.SIZE] = block[blocks.END]


@compiled
def run(address: Any) -> Any:
    """Expand the states from POSITION up to END; why it stopped (DONE: all of them)."""
    block = block_at(address)
    if block[blocks.SIZE] == 0:
        start(block)
    machine = machine_in(block)
    tables = tables_in(block)
    successors = successors_in(block)
    origins = words_at(block[blocks.ORIGINS], block[blocks.ORIGINS_LENGTH])
    words, moves, full_at = machine.words, block[blocks.MOVES], block[blocks.FULL_AT]
    size, position, end = block[blocks.SIZE], block[blocks.POSITION], block[blocks.END]
    transitions = block[blocks.TRANSITIONS]
    last_transition = transitions + block[blocks.BUDGET]
    first = block[blocks.SUCCESSOR]
    reason = blocks.DONE
    while position < end:
        if transitions >= last_transition:
            reason = blocks.SLICE
            break
        if size + block[blocks.MOST_SUCCESSORS] >= full_at:
            reason = blocks.STORE_FULL
            break
        begin = position * words
        if machine.race_wanted and moves != blocks.SAME_THREAD and block[blocks.RACE_CHECKED] == 0:
            source = block[blocks.LOG] + 8 * begin
            outcome = race_at(machine, block, source, successors.base)
            if outcome == TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            block[blocks.RACE_CHECKED] = 1
            if outcome == RACE_FOUND:
                reason = blocks.RACE
                break
        last = np.int64(tables.log[begin + words - 1])
        count, deadlock = gather(block, machine, tables, successors, begin, moves, last)
        for successor in range(first, count):
            transitions += 1
            hashed = successors.hashes[successor]
            move = successors.moves[successor]
            found = insert_logged(tables, size, words, successors.states, successor * words, hashed)
            if found == size:
                origins[size] = (np.uint64(position) << POSITION_SHIFT) | move
                size += 1
            fault = successors.results[successor] >> 32
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                block[blocks.FAULT_CODE] = fault
                block[blocks.MOVE_THREAD] = np.int64((move >> THREAD_SHIFT) & THREAD_MASK)
                block[blocks.MOVE_CHOICE] = np.int64(move & CHOICE_MASK)
                first = successor + 1
                reason = blocks.FAULT
                break
        if reason == blocks.FAULT:
            break
        first = 0
        block[blocks.RACE_CHECKED] = 0
        position += 1
        if deadlock and machine.deadlock_wanted and moves != blocks.SAME_THREAD:
            reason = blocks.DEADLOCK
            break
    block[blocks.SIZE], block[blocks.POSITION] = size, position
    block[blocks.TRANSITIONS], block[blocks.SUCCESSOR] = transitions, first
    return reason
