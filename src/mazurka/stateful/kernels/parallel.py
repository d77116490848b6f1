"""Breadth-first search by several workers, each in a thread of its own.

A level is one range of positions for each worker's segment of the log.  A worker claims a few
states at a time, from its own range first and then from those of others, expands them, and puts
what is new into its own segment: the next level.  Nothing is shared but the table
(`mazurka.stateful.kernels.shared_store`), the heads of the ranges, and a word that calls everybody
back.  Which worker finds a state first, and so where the state lies and what its origin is, depends
on the timing; which states belong to a level does not.

A worker that finds nothing to claim any more has arrived at the end of the level, and waits.  The
last one to arrive begins the next level, and all go on, without Python: levels may be many and
small.  Everybody returns to Python when somebody calls back: the slice is over, the table is full,
or a level is completed in which something was found.

What a worker finds (faults, states in which nobody moves, hangs, races) it writes down and goes on:
a level is always completed, so that what is reported does not depend on the timing either.  Python
looks at the findings when the slice is over (`mazurka.stateful.searches.parallel`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.atomics import (
    arrive,
    fetch_and_add,
    give_way,
    load_shared,
    publish,
)
from mazurka.stateful.kernels.breadth_first import POSITION_SHIFT, THREAD_SHIFT
from mazurka.stateful.kernels.hangs import hang_at, is_quiet
from mazurka.stateful.kernels.machine import (
    block_at,
    call_step,
    choices_at,
    compiled,
    machine_in,
    peek,
    poke,
)
from mazurka.stateful.kernels.persistent_choice import choose
from mazurka.stateful.kernels.persistent_sets import NONE, ONE, examined_in, first_of
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.shared_store import (
    enter_segment,
    fetch_shared,
    insert_shared,
    touch_share,
)
from mazurka.stateful.kernels.stack import note_end
from mazurka.stateful.kernels.store import hash_record, tables_in
from mazurka.stateful.kernels.successors import (
    MOVED,
    STOPPED,
    WAITING,
    fault_of,
    gather,
    move_of,
    successors_in,
)

PATIENCE = 1 << 8
"""How often a worker that waits looks before it gives way: there may be more workers than
processors."""


@compiled
def claim(block: Any) -> Any:
    """Take the next states of the level: POSITION up to END; whether there are any."""
    workers = block[blocks.WORKERS]
    share = np.int64(peek(block[blocks.MEETING], blocks.MEETING_SHARE))
    for distance in range(workers):
        owner = (block[blocks.WORKER] + distance) % workers
        head = block[blocks.RANGES] + 8 * blocks.RANGE_WORDS * owner
        end = np.int64(peek(head, blocks.RANGE_END))
        if np.int64(load_shared(head, blocks.RANGE_NEXT)) >= end:
            continue
        first = np.int64(fetch_and_add(head, blocks.RANGE_NEXT, np.uint64(share)))
        if first < end:
            block[blocks.POSITION], block[blocks.END] = first, min(first + share, end)
            return True
    return False


@compiled
def call_back(block: Any) -> Any:
    """Have all workers return soon."""
    publish(block[blocks.MEETING], blocks.MEETING_CALLED_BACK, np.uint64(1))


@compiled
def is_called_back(block: Any) -> Any:
    return load_shared(block[blocks.MEETING], blocks.MEETING_CALLED_BACK) != np.uint64(0)


@compiled
def meet(block: Any, size: Any) -> Any:
    """Wait until nothing of the level is left; whether there is another one to go on with."""
    meeting = block[blocks.MEETING]
    own = block[blocks.RANGES] + 8 * blocks.RANGE_WORDS * block[blocks.WORKER]
    stored = block[blocks.WORKER] * block[blocks.SEGMENT] + size
    poke(own, blocks.RANGE_STORED, np.uint64(stored))
    level = load_shared(meeting, blocks.MEETING_LEVEL)
    before = np.int64(arrive(meeting, blocks.MEETING_ARRIVED))
    if before == block[blocks.AT_WORK] - 1:
        return begin_level(block, level)
    spins = 0
    while load_shared(meeting, blocks.MEETING_LEVEL) == level:
        if is_called_back(block):
            return False
        spins += 1
        if spins % PATIENCE == 0:
            give_way()
    return True


@compiled
def begin_level(block: Any, level: Any) -> Any:
    """Let everybody go on to the states found last, unless Python has to have a look first."""
    workers, meeting = block[blocks.WORKERS], block[blocks.MEETING]
    states = np.int64(0)
    for worker in range(workers):
        head = block[blocks.RANGES] + 8 * blocks.RANGE_WORDS * worker
        states += np.int64(peek(head, blocks.RANGE_STORED) - peek(head, blocks.RANGE_END))
    alone = block[blocks.AT_WORK] == 1
    found = load_shared(meeting, blocks.MEETING_FOUND) != np.uint64(0)
    if found or states == 0 or (alone and states >= blocks.SMALL_LEVEL and workers > 1):
        call_back(block)
        return False
    for worker in range(workers):
        head = block[blocks.RANGES] + 8 * blocks.RANGE_WORDS * worker
        poke(head, blocks.RANGE_NEXT, peek(head, blocks.RANGE_END))
        poke(head, blocks.RANGE_END, peek(head, blocks.RANGE_STORED))
    share = min(max(states // (4 * block[blocks.AT_WORK]), 1), blocks.MOST_CLAIMED)
    poke(meeting, blocks.MEETING_SHARE, np.uint64(share))
    poke(meeting, blocks.MEETING_ARRIVED, np.uint64(0))
    publish(meeting, blocks.MEETING_LEVEL, level + np.uint64(1))
    return True


@compiled
def write_finding(block: Any, kind: Any, position: Any, thread: Any, choice: Any) -> Any:
    """Write down what was found for Python to look at."""
    place = block[blocks.FINDINGS] + 8 * blocks.FINDING_WORDS * block[blocks.FINDING_COUNT]
    poke(place, blocks.FINDING_KIND, np.uint64(kind))
    poke(place, blocks.FINDING_POSITION, np.uint64(position))
    poke(place, blocks.FINDING_THREAD, np.uint64(thread))
    poke(place, blocks.FINDING_CHOICE, np.uint64(choice))
    block[blocks.FINDING_COUNT] += 1


@compiled
def note_finding(block: Any, kind: Any, position: Any, thread: Any, choice: Any) -> Any:
    """Write down what was found, and have Python look at it when the level is completed."""
    write_finding(block, kind, position, thread, choice)
    publish(block[blocks.MEETING], blocks.MEETING_FOUND, np.uint64(1))


@compiled
def start(block: Any) -> Any:
    """Put the initial state, which lies in the buffer, into the store."""
    tables, words, initial = tables_in(block), block[blocks.WORDS], block[blocks.BUFFER]
    hashed = hash_record(initial, words)
    insert_shared(tables, 0, words, initial, hashed, block[blocks.ORIGINS], np.uint64(0))
    block[blocks.SIZE] = 1


@compiled
def run(address: Any) -> Any:
    """Do the worker's part of a job; why it stopped (DONE: nothing of the level is left)."""
    block = block_at(address)
    if block[blocks.JOB] == blocks.JOB_START:
        start(block)
        return blocks.DONE
    if block[blocks.JOB] == blocks.JOB_ENTER:
        first = block[blocks.WORKER] * block[blocks.SEGMENT]
        touch_share(tables_in(block), block[blocks.WORKER], block[blocks.WORKERS])
        enter_segment(tables_in(block), block[blocks.WORDS], first, first + block[blocks.SIZE])
        return blocks.DONE
    if block[blocks.REDUCED]:
        return expand(block, True)
    return expand(block, None)


@compiled
def gather_set(machine: Any, successors: Any, source: Any, threads: Any) -> Any:
    """Make the successors by a set of threads; how many there are."""
    count = 0
    while threads != NONE:
        thread = first_of(threads)
        threads &= threads - ONE
        for choice in range(choices_at(machine, source, thread)):
            target = successors.states + 8 * machine.words * count
            result = call_step(machine.step, source, thread, choice, target, 0)
            if result >= 0:
                poke(successors.hashes, count, hash_record(target, machine.words))
                poke(successors.threads, count, np.uint64(thread))
                poke(successors.choices, count, np.uint64(choice))
                poke(successors.results, count, np.uint64(result))
                count += 1
    return count


@compiled
def expand(block: Any, reduced: Any) -> Any:
    """Expand states of the level until none is left, or something else has to be done.

    `reduced` is None, and then all threads are tried; or else a persistent set of them is, which
    depends on the state alone (`stateful.reference.stubborn`, the proviso by sticky locations).
    There are two functions, so that the search of all states does not carry the other's weight.
    """
    machine = machine_in(block)
    tables = tables_in(block)
    successors = successors_in(block)
    origins, most = block[blocks.ORIGINS], block[blocks.MOST_SUCCESSORS]
    words, full_at = machine.words, block[blocks.FULL_AT]
    base = block[blocks.WORKER] * block[blocks.SEGMENT]
    size, transitions = block[blocks.SIZE], block[blocks.TRANSITIONS]
    last_transition = transitions + block[blocks.BUDGET]
    first = block[blocks.SUCCESSOR]
    reason = blocks.DONE
    while True:
        if block[blocks.POSITION] >= block[blocks.END]:
            if is_called_back(block):
                reason = blocks.SLICE
                break
            if not claim(block):
                if not meet(block, size):
                    break
                continue
        if transitions >= last_transition:
            call_back(block)
            reason = blocks.SLICE
            break
        if size + most >= full_at:
            call_back(block)
            reason = blocks.STORE_FULL
            break
        if block[blocks.FINDING_COUNT] + most + 3 > block[blocks.FINDING_ROOM]:
            call_back(block)
            reason = blocks.FOUND
            break
        position = block[blocks.POSITION]
        source = tables.log + 8 * words * position
        if machine.race_wanted and block[blocks.RACE_CHECKED] == 0:
            outcome = race_at(machine, block, source, successors.states)
            if outcome == TOO_LONG:
                call_back(block)
                reason = blocks.FOOTPRINT_FULL
                break
            block[blocks.RACE_CHECKED] = 1
            if outcome == RACE_FOUND:
                note_finding(block, blocks.RACE, position, 0, 0)
        if reduced is None:
            count, _, _, flags = gather(
                machine, tables, successors, source, 0, 0, machine.threads, most, False
            )
            stuck = flags & MOVED == 0 and machine.deadlock_wanted
        else:
            at = examined_in(block)
            chosen, _, ends, missing = choose(machine, block, tables, at, source)
            if missing != blocks.DONE:
                call_back(block)
                reason = missing
                break
            if ends and first == 0:
                note_finding(block, blocks.STUCK, position, 0, 0)
            count, flags, stuck = gather_set(machine, successors, source, chosen), 0, False
        for successor in range(first, count):
            fetch_shared(tables, words, peek(successors.hashes, successor))
        for successor in range(first, count):
            thread, choice = move_of(successors, successor)
            transitions += 1
            fault = fault_of(successors, successor)
            if fault < blocks.FIRST_DEAD_END:
                move = (np.uint64(thread) << THREAD_SHIFT) | np.uint64(choice)
                origin = (np.uint64(position) << POSITION_SHIFT) | move
                record = successors.states + 8 * words * successor
                hashed = peek(successors.hashes, successor)
                if insert_shared(tables, base + size, words, record, hashed, origins, origin):
                    size += 1
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                note_finding(block, blocks.FAULT, position, thread, choice)
        if machine.hang_wanted and count > 0 and is_quiet(block, successors, count, source):
            outcome = hang_at(machine, block, source)
            if outcome == blocks.WALK_FULL:
                call_back(block)
                first = count
                reason = outcome
                break
            if outcome == blocks.QUIET:
                note_finding(block, blocks.QUIET, position, 0, 0)
        first = 0
        block[blocks.RACE_CHECKED] = 0
        block[blocks.POSITION] = position + 1
        if stuck and note_end(block, flags & WAITING != 0, flags & STOPPED != 0):
            note_finding(block, blocks.STUCK, position, 0, 0)
    block[blocks.SIZE] = size
    block[blocks.TRANSITIONS], block[blocks.SUCCESSOR] = transitions, first
    return reason
