"""Breadth-first search: counterexamples are shortest.

States lie in the store's log in order of discovery, so the log is the queue: a level is a range
of positions.  Beside each state its origin is kept: the position it was reached from and the move.
All successors of a state are made before any of them is looked up, and their places in the table
are fetched ahead meanwhile.

The search can also be told to take only the moves of the thread that moved last (the last word of
a record), or only those of the others; `mazurka.stateful.searches.minimize` searches by context
switches so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.hangs import hang_at, is_quiet
from mazurka.stateful.kernels.machine import block_at, compiled, machine_in, peek, poke
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.stack import note_end
from mazurka.stateful.kernels.store import fetch_logged, hash_record, insert_logged, tables_in
from mazurka.stateful.kernels.successors import (
    MOVED,
    STOPPED,
    WAITING,
    fault_of,
    gather,
    move_of,
    successors_in,
)

POSITION_SHIFT = np.uint64(blocks.ORIGIN_POSITION_SHIFT)
THREAD_SHIFT = np.uint64(blocks.ORIGIN_THREAD_SHIFT)


@compiled
def start(block: Any) -> Any:
    """Put the initial records, which lie in the buffer up to END, into the store."""
    tables = tables_in(block)
    words = block[blocks.WORDS]
    for position in range(block[blocks.END]):
        record = block[blocks.BUFFER] + 8 * words * position
        insert_logged(tables, position, words, record, hash_record(record, words))
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
    origins, most = block[blocks.ORIGINS], block[blocks.MOST_SUCCESSORS]
    words, moves, full_at = machine.words, block[blocks.MOVES], block[blocks.FULL_AT]
    same, tagged = moves == blocks.SAME_THREAD, moves != blocks.ALL_MOVES
    size, position, end = block[blocks.SIZE], block[blocks.POSITION], block[blocks.END]
    transitions = block[blocks.TRANSITIONS]
    last_transition = transitions + block[blocks.BUDGET]
    first = block[blocks.SUCCESSOR]
    reason = blocks.DONE
    while position < end:
        if transitions >= last_transition:
            reason = blocks.SLICE
            break
        if size + most >= full_at:
            reason = blocks.STORE_FULL
            break
        source = tables.log + 8 * words * position
        if machine.race_wanted and not same and block[blocks.RACE_CHECKED] == 0:
            outcome = race_at(machine, block, source, successors.states)
            if outcome == TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            block[blocks.RACE_CHECKED] = 1
            if outcome == RACE_FOUND:
                reason = blocks.RACE
                break
        last = np.int64(peek(source, words - 1))
        begin = last if same else np.int64(0)
        beyond = last + 1 if same else machine.threads
        count, _, _, flags = gather(
            machine, tables, successors, source, begin, np.int64(0), beyond, most, tagged
        )
        for successor in range(first, count):
            fetch_logged(tables, words, peek(successors.hashes, successor))
        for successor in range(first, count):
            thread, choice = move_of(successors, successor)
            if moves == blocks.OTHER_THREADS and thread == last:
                continue
            transitions += 1
            fault = fault_of(successors, successor)
            found = np.int64(-1)
            if fault < blocks.FIRST_DEAD_END:
                record = successors.states + 8 * words * successor
                hashed = peek(successors.hashes, successor)
                found = insert_logged(tables, size, words, record, hashed)
            if found == size:
                move = (np.uint64(thread) << THREAD_SHIFT) | np.uint64(choice)
                poke(origins, size, (np.uint64(position) << POSITION_SHIFT) | move)
                size += 1
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                block[blocks.MOVE_THREAD], block[blocks.MOVE_CHOICE] = thread, choice
                first = successor + 1
                reason = blocks.FAULT
                break
        if reason == blocks.FAULT:
            break
        if machine.hang_wanted and (
            same or (not tagged and is_quiet(block, successors, count, source))
        ):
            reason = hang_at(machine, block, source)
            if reason == blocks.WALK_FULL:
                first = count
                break
        first = 0
        block[blocks.RACE_CHECKED] = 0
        position += 1
        if reason != blocks.DONE:
            break
        stuck = flags & MOVED == 0 and machine.deadlock_wanted and not same
        if stuck and note_end(block, flags & WAITING != 0, flags & STOPPED != 0):
            reason = blocks.STUCK
            break
    block[blocks.SIZE], block[blocks.POSITION] = size, position
    block[blocks.TRANSITIONS], block[blocks.SUCCESSOR] = transitions, first
    return reason
