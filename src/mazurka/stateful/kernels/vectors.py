"""The cartesian vector of a state: `CalcCV` (Fig. 6 of paper 003).

`stateful.reference.cartesian` has the same algorithm in plain Python and is the one to read first.
A vector may be long, so it is made in slices: whatever it consists of lies in the block and the
arrays that the block names, and VECTOR_OPEN says that it is to be continued.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import call_step, choices_at, compiled, peek, poke
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
from mazurka.stateful.kernels.store import same_words

WAITS, STOPPED, ENDED, INVALID = -1, -2, -3, -4
TOO_LONG = -5

FIELDS = blocks.PREFIX_FIELDS
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
def extend(machine: Any, block: Any, vector: Any, prefix: Any, source: Any, size: Any) -> Any:
    """Add the thread's next transition to a prefix, unless Definition 2 forbids it.

    How many states are in PASSED, what the paper counts, how many moves; DONE or the trouble.
    """
    fields, base = vector.prefixes, prefix * blocks.PREFIX_FIELDS
    thread, state = fields[base + blocks.PREFIX_THREAD], state_of(vector, prefix)
    choice = np.int64(0)
    if choices_at(machine, state, thread) > 1:
        choice = only_choice(machine, block, vector, state, thread)
    if choice < 0:
        fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
        return size, np.int64(0), np.int64(0), blocks.DONE
    result = next_trans(machine, block, vector, state, thread, choice)
    gone = exits(block, vector, result)
    idle = result == ENDED and vector.footprint[1] > 0
    if result == TOO_LONG or not add_own_cells(vector, thread, result >= 0, idle):
        return size, np.int64(0), np.int64(0), blocks.FOOTPRINT_FULL
    paper, moves = np.int64(0 if gone else 1), np.int64(1 if result >= 0 else 0)
    earlier = in_conflict(vector, thread, blocks.MARK_EARLIER_READ, blocks.MARK_EARLIER_WRITE)
    if earlier != np.uint64(0):
        fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
        return size, paper, moves, blocks.DONE
    threads = in_conflict(vector, thread, blocks.MARK_LAST_READ, blocks.MARK_LAST_WRITE)
    if threads != np.uint64(0):
        stop_both(vector, prefix, threads, block[blocks.PREFIX_COUNT])
    back = returns(block, vector, prefix, source, gone, size)
    size = add(machine, block, vector, prefix, result, size)
    if back:
        fields[base + blocks.PREFIX_FLAGS] |= INFINITE
        fields[base + blocks.PREFIX_FLAGS] &= ~EXTENDABLE
    return size, paper, moves, blocks.PASSED_FULL if size < 0 else blocks.DONE


@compiled
def calc_cv(machine: Any, block: Any, source: Any, budget: Any) -> Any:
    """Fig. 6, by turns: DONE, SLICE after about so many moves, or the trouble."""
    if block[blocks.VECTOR_OPEN] == 0:
        begin_vector(block)
    vector = vector_in(block)
    size, paper = block[blocks.VECTOR_PASSED], block[blocks.VECTOR_PAPER]
    moves, reason = block[blocks.VECTOR_MOVES], blocks.DONE
    if block[blocks.VECTOR_OPEN] == 0:
        size = np.int64(0)
        count, paper, moves, reason = first_steps(machine, block, vector, source)
        block[blocks.PREFIX_COUNT] = count
    last = moves + budget
    going = True
    while going and reason == blocks.DONE:
        if moves >= last:
            reason = blocks.SLICE
            break
        going = False
        for prefix in range(block[blocks.PREFIX_COUNT]):
            flags = vector.prefixes[prefix * blocks.PREFIX_FIELDS + blocks.PREFIX_FLAGS]
            if flags & EXTENDABLE == 0:
                continue
            going = True
            size, counted, moved, reason = extend(machine, block, vector, prefix, source, size)
            if reason != blocks.DONE:
                break
            paper += counted
            moves += moved
    block[blocks.VECTOR_PASSED], block[blocks.VECTOR_PAPER] = size, paper
    block[blocks.VECTOR_MOVES] = moves
    block[blocks.VECTOR_OPEN] = reason == blocks.SLICE
    return reason


@compiled
def stuck_together(machine: Any, vector: Any, count: Any) -> Any:
    """Whether the prefixes, one of each thread that does not observe, lead to a standstill.

    Each thread must get to a place where it does not move, and one of them to a place where it
    waits.  Where it begins it is stuck only if none of its choices lets it move.  Whether this is a
    deadlock, and with which of the ends, is decided in Python.
    """
    fields, prefix, waits = vector.prefixes, 0, False
    for thread in range(machine.threads):
        first = prefix
        moved = False
        while prefix < count and fields[prefix * FIELDS + blocks.PREFIX_THREAD] == thread:
            moved = moved or fields[prefix * FIELDS + blocks.PREFIX_FLAGS] & FIRST_MOVED != 0
            prefix += 1
        if machine.observers[thread] != 0:
            continue
        stuck = False
        for end in range(first, prefix):
            result = fields[end * FIELDS + blocks.PREFIX_RESULT]
            goes = fields[end * FIELDS + blocks.PREFIX_FLAGS] & FIRST_MOVED != 0
            if result < 0 and goes == moved:
                stuck = True
                waits = waits or result == WAITS
        if not stuck:
            return False
    return waits
