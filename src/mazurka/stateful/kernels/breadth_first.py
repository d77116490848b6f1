"""Breadth-first search: counterexamples are shortest.

States lie in the store's log in order of discovery, so the log is the queue: a level is a range
of positions.  Beside each state its origin is kept: the position it was reached from and the move.
All successors of a state are made before any of them is looked up, and their places in the table
are fetched ahead meanwhile.

The search can also be told to take only the moves of the thread that moved last (the last word of
a record), or only those of the others; `mazurka.stateful.minimize` searches by context switches so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import block_at, compiled, machine_in, words_at
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.store import fetch_logged, hash_words, insert_logged, tables_in
from mazurka.stateful.kernels.successors import WAITING, gather, successors_in

POSITION_SHIFT = np.uint64(blocks.ORIGIN_POSITION_SHIFT)
THREAD_SHIFT = np.uint64(blocks.ORIGIN_THREAD_SHIFT)


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
        same = moves == blocks.SAME_THREAD
        if machine.race_wanted and not same and block[blocks.RACE_CHECKED] == 0:
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
        count, _, _, flags = gather(
            machine, tables, block[blocks.TABLE], successors,
            tables.log, begin, block[blocks.LOG] + 8 * begin,
            last if same else np.int64(0), np.int64(0), last + 1 if same else machine.threads,
            block[blocks.MOST_SUCCESSORS], moves != blocks.ALL_MOVES,
        )  # fmt: skip
        for successor in range(first, count):
            fetch_logged(tables, block[blocks.LOG], words, successors.hashes[successor])
        for successor in range(first, count):
            thread, choice = successors.threads[successor], successors.choices[successor]
            if moves == blocks.OTHER_THREADS and thread == last:
                continue
            transitions += 1
            hashed = successors.hashes[successor]
            move = (np.uint64(thread) << THREAD_SHIFT) | np.uint64(choice)
            fault = successors.results[successor] >> 32
            found = np.int64(-1)
            if fault < blocks.FIRST_DEAD_END:
                found = insert_logged(
                    tables, size, words, successors.states, successor * words, hashed
                )
            if found == size:
                origins[size] = (np.uint64(position) << POSITION_SHIFT) | move
                size += 1
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                block[blocks.FAULT_CODE] = fault
                block[blocks.MOVE_THREAD], block[blocks.MOVE_CHOICE] = thread, choice
                first = successor + 1
                reason = blocks.FAULT
                break
        if reason == blocks.FAULT:
            break
        first = 0
        block[blocks.RACE_CHECKED] = 0
        position += 1
        if flags == WAITING and machine.deadlock_wanted and not same:
            reason = blocks.DEADLOCK
            break
    block[blocks.SIZE], block[blocks.POSITION] = size, position
    block[blocks.TRANSITIONS], block[blocks.SUCCESSOR] = transitions, first
    return reason
