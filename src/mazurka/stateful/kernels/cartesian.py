"""Cartesian partial-order reduction: `CalcCV` and the checker (Fig. 6 and 7 of paper 003).

`mazurka.stateful.cartesian` has the same algorithm in plain Python and is the one to read first.
States are expanded in the order of discovery; the store holds CoveredSet and what is left of
WorkSet together, so that each state is expanded once.  Where a vector contains a fault, or may lead
to a deadlock, the search comes back to Python, which finds the schedule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import (
    block_at,
    call_step,
    choices_at,
    compiled,
    machine_in,
    peek,
    poke,
)
from mazurka.stateful.kernels.prefixes import (
    NO_ROOM,
    SEEN,
    add_own_cells,
    begin_vector,
    collides,
    in_conflict,
    passed,
    put_last,
    state_of,
    vector_in,
)
from mazurka.stateful.kernels.store import hash_record, insert_logged, same_words, tables_in

WAITS, STOPPED, ENDED, INVALID = -1, -2, -3, -4
TOO_LONG = -5
POSITION_SHIFT = np.uint64(blocks.ORIGIN_POSITION_SHIFT)
THREAD_SHIFT = np.uint64(blocks.ORIGIN_THREAD_SHIFT)

EXTENDABLE, INFINITE = blocks.PREFIX_EXTENDABLE, blocks.PREFIX_INFINITE
DEAD_END, FIRST_MOVED = blocks.PREFIX_DEAD_END, blocks.PREFIX_FIRST_MOVED


@compiled
def next_trans(machine: Any, block: Any, vector: Any, source: Any, thread: Any, choice: Any) -> Any:
    """Execute a thread's step into the spare state; a thread that cannot move loops."""
    target = state_of(vector, block[blocks.MOST_PREFIXES])
    vector.footprint[1] = 0
    result = call_step(
        machine.recording_step, source, thread, choice, target, block[blocks.FOOTPRINT]
    )
    if result == INVALID:
        return result
    if vector.footprint[1] > vector.footprint[0]:
        return np.int64(TOO_LONG)
    if result < 0:
        for word in range(machine.words):
            poke(target, word, peek(source, word))
    return result


@compiled
def exits(block: Any, vector: Any, result: Any) -> Any:
    """A thread that cannot move, and has looked at nothing but its own variables, never will."""
    return result < 0 and block[blocks.LOOPS_COUNTED] == 0 and vector.footprint[1] == 0


@compiled
def returns(block: Any, vector: Any, prefix: Any, source: Any, gone: Any, size: Any) -> Any:
    """Whether the prefix is left off when the step to the spare state is added to it."""
    target = state_of(vector, block[blocks.MOST_PREFIXES])
    base = prefix * blocks.PREFIX_FIELDS
    begun = vector.prefixes[base + blocks.PREFIX_LENGTH] > 0
    extendable = vector.prefixes[base + blocks.PREFIX_FLAGS] & EXTENDABLE != 0
    rule = block[blocks.CYCLE_RULE]
    if gone:
        return True
    if rule != blocks.RETURN_RULE and not extendable:
        return False
    inner = begun and passed(block, prefix, target, size, False) == SEEN
    if rule == blocks.TABLE1_RULE:
        return inner
    if rule == blocks.LITERAL_RULE and not begun:
        return False
    last = state_of(vector, prefix) if begun else source
    words = vector.words
    return inner or same_words(target, source, words) or same_words(target, last, words)


@compiled
def add(machine: Any, block: Any, vector: Any, prefix: Any, result: Any, size: Any) -> Any:
    """Add the step to the spare state to a prefix; how many states have been entered, or -1."""
    base = prefix * blocks.PREFIX_FIELDS
    fields = vector.prefixes
    state, target = state_of(vector, prefix), state_of(vector, block[blocks.MOST_PREFIXES])
    if fields[base + blocks.PREFIX_LENGTH] > 0:
        entered = passed(block, prefix, state, size, True)
        if entered == NO_ROOM:
            return np.int64(-1)
        if entered != SEEN:
            size += 1
    put_last(vector, prefix, fields[base + blocks.PREFIX_THREAD])
    for word in range(vector.words):
        poke(state, word, peek(target, word))
    fields[base + blocks.PREFIX_LENGTH] += 1
    fields[base + blocks.PREFIX_RESULT] = result
    fault = result >> 32 if result >= 0 else np.int64(0)
    if fault >= blocks.FIRST_DEAD_END:
        fields[base + blocks.PREFIX_FLAGS] |= DEAD_END
        fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
    wanted = fault != 0 and (machine.faults_wanted >> fault) & 1
    if wanted and fields[base + blocks.PREFIX_FAULT] == 0:
        fields[base + blocks.PREFIX_FAULT] = fields[base + blocks.PREFIX_LENGTH]
    return size


@compiled
def stop_both(vector: Any, prefix: Any, threads: Any, count: Any) -> Any:
    """Neither the prefix nor those whose last step it collides with can be extended further."""
    fields = vector.prefixes
    for other in range(count):
        base = other * blocks.PREFIX_FIELDS
        thread = np.uint64(fields[base + blocks.PREFIX_THREAD])
        if (threads >> thread) & np.uint64(1) and collides(vector, other):
            fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
            fields[prefix * blocks.PREFIX_FIELDS + blocks.PREFIX_FLAGS] &= ~EXTENDABLE


@compiled
def first_steps(machine: Any, block: Any, vector: Any, source: Any) -> Any:
    """A prefix of one step for each outcome; how many, transitions and moves, or the trouble."""
    count, paper, moves = np.int64(0), np.int64(0), np.int64(0)
    fields = vector.prefixes
    for thread in range(machine.threads):
        for choice in range(choices_at(machine, source, thread)):
            result = next_trans(machine, block, vector, source, thread, choice)
            if result == INVALID:
                continue
            if result == TOO_LONG:
                return count, paper, moves, blocks.FOOTPRINT_FULL
            if count == block[blocks.MOST_PREFIXES]:
                return count, paper, moves, blocks.PREFIXES_FULL
            gone = exits(block, vector, result)
            idle = result == ENDED and vector.footprint[1] > 0
            if not add_own_cells(vector, thread, result >= 0, idle):
                return count, paper, moves, blocks.FOOTPRINT_FULL
            base = count * blocks.PREFIX_FIELDS
            for field in range(blocks.PREFIX_FIELDS):
                fields[base + field] = 0
            fields[base + blocks.PREFIX_THREAD] = thread
            fields[base + blocks.PREFIX_CHOICE] = choice
            fields[base + blocks.PREFIX_FLAGS] = EXTENDABLE | (FIRST_MOVED if result >= 0 else 0)
            back = returns(block, vector, count, source, gone, np.int64(0))
            threads = in_conflict(vector, thread, blocks.MARK_LAST_READ, blocks.MARK_LAST_WRITE)
            if threads != np.uint64(0):
                stop_both(vector, count, threads, count)
            add(machine, block, vector, count, result, np.int64(0))
            if back:
                fields[base + blocks.PREFIX_FLAGS] |= INFINITE
                fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
            count += 1
            paper += 0 if gone else 1
            moves += 1 if result >= 0 else 0
    return count, paper, moves, blocks.DONE


@compiled
def only_choice(machine: Any, block: Any, vector: Any, state: Any, thread: Any) -> Any:
    """The choice of a thread's only possible step, -1 if there are several."""
    found = np.int64(-1)
    for choice in range(choices_at(machine, state, thread)):
        if next_trans(machine, block, vector, state, thread, choice) != INVALID:
            if found >= 0:
                return np.int64(-1)
            found = np.int64(choice)
    return found


@compiled
def calc_cv(machine: Any, block: Any, vector: Any, source: Any) -> Any:
    """Fig. 6: how many prefixes, the paper's transitions, moves, and DONE or the trouble."""
    count, paper, moves, reason = first_steps(machine, block, vector, source)
    fields = vector.prefixes
    size = np.int64(0)
    going = True
    while going and reason == blocks.DONE:
        going = False
        for prefix in range(count):
            base = prefix * blocks.PREFIX_FIELDS
            if fields[base + blocks.PREFIX_FLAGS] & EXTENDABLE == 0:
                continue
            thread, state = fields[base + blocks.PREFIX_THREAD], state_of(vector, prefix)
            choice = np.int64(0)
            if choices_at(machine, state, thread) > 1:
                choice = only_choice(machine, block, vector, state, thread)
            if choice < 0:
                fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
                continue
            result = next_trans(machine, block, vector, state, thread, choice)
            gone = exits(block, vector, result)
            idle = result == ENDED and vector.footprint[1] > 0
            if result == TOO_LONG or not add_own_cells(vector, thread, result >= 0, idle):
                reason = blocks.FOOTPRINT_FULL
                break
            paper += 0 if gone else 1
            moves += 1 if result >= 0 else 0
            earlier = in_conflict(
                vector, thread, blocks.MARK_EARLIER_READ, blocks.MARK_EARLIER_WRITE
            )
            if earlier != np.uint64(0):
                fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
                continue
            threads = in_conflict(vector, thread, blocks.MARK_LAST_READ, blocks.MARK_LAST_WRITE)
            if threads != np.uint64(0):
                stop_both(vector, prefix, threads, count)
            back = returns(block, vector, prefix, source, gone, size)
            size = add(machine, block, vector, prefix, result, size)
            if size < 0:
                reason = blocks.PASSED_FULL
                break
            if back:
                fields[base + blocks.PREFIX_FLAGS] |= INFINITE
                fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
            going = True
    return count, paper, moves, reason


@compiled
def may_be_stuck(machine: Any, vector: Any, count: Any) -> Any:
    """Whether each thread has a prefix at whose end it cannot move, and one of them waits."""
    fields, prefix, waits = vector.prefixes, 0, False
    for thread in range(machine.threads):
        stuck, moved = False, False
        while prefix < count:
            base = prefix * blocks.PREFIX_FIELDS
            if fields[base + blocks.PREFIX_THREAD] != thread:
                break
            result = fields[base + blocks.PREFIX_RESULT]
            moved = moved or fields[base + blocks.PREFIX_FLAGS] & FIRST_MOVED != 0
            if result < 0:
                stuck = True
                waits = waits or (result == WAITS and machine.observers[thread] == 0)
            prefix += 1
        if not stuck and machine.observers[thread] == 0:
            return False
    return waits


@compiled
def push_ends(block: Any, vector: Any, tables: Any, count: Any, position: Any, size: Any) -> Any:
    """Add the ends of the prefixes to WorkSet; the number of states, and whether one failed."""
    fields, failed = vector.prefixes, False
    for prefix in range(count):
        base = prefix * blocks.PREFIX_FIELDS
        failed = failed or fields[base + blocks.PREFIX_FAULT] != 0
        if fields[base + blocks.PREFIX_FLAGS] & (INFINITE | DEAD_END) != 0:
            continue
        state = state_of(vector, prefix)
        found = insert_logged(tables, size, vector.words, state, hash_record(state, vector.words))
        if found == size:
            thread = np.uint64(fields[base + blocks.PREFIX_THREAD])
            move = (thread << THREAD_SHIFT) | np.uint64(fields[base + blocks.PREFIX_CHOICE])
            poke(block[blocks.ORIGINS], size, (np.uint64(position) << POSITION_SHIFT) | move)
            length = np.uint64(fields[base + blocks.PREFIX_LENGTH])
            poke(block[blocks.LENGTHS], size, length)
            size += 1
    return size, failed


@compiled
def run(address: Any) -> Any:
    """Fig. 7: search on until something needs Python's attention; the reason."""
    block = block_at(address)
    machine, tables = machine_in(block), tables_in(block)
    words, full_at = machine.words, block[blocks.FULL_AT]
    if block[blocks.SIZE] == 0:
        initial = block[blocks.BUFFER]
        insert_logged(tables, 0, words, initial, hash_record(initial, words))
        block[blocks.SIZE] = 1
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
        begin_vector(block)
        vector = vector_in(block)
        source = tables.log + 8 * words * position
        count, paper, moves, trouble = calc_cv(machine, block, vector, source)
        if trouble != blocks.DONE:
            reason = trouble
            break
        transitions += moves
        block[blocks.PAPER_TRANSITIONS] += paper
        block[blocks.PREFIX_COUNT] = count
        block[blocks.END] = machine.deadlock_wanted and may_be_stuck(machine, vector, count)
        size, failed = push_ends(block, vector, tables, count, position, size)
        if failed:
            reason = blocks.FAULT
        elif block[blocks.END] != 0:
            reason = blocks.STUCK
        position += 1
    block[blocks.SIZE], block[blocks.POSITION] = size, position
    block[blocks.TRANSITIONS] = transitions
    return reason
