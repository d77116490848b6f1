"""Depth-first search over all interleavings.

The stack holds the path from the initial state to the current one, so a violation's schedule can
be read off it.  A frame remembers its state (the word itself where states are inline, else the
position in the log) and how far its moves have been tried.  Where visited states are stored as
bits, the log has the states of the stack alone.

The loop runs in slices: it returns to Python after a number of transitions, to grow an array, or
because it found something, and can go on from where it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.stateful import blocks
from mazurka.stateful.kernels.hangs import hang_at
from mazurka.stateful.kernels.machine import block_at, compiled, machine_in, peek, poke
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.stack import (
    note_end,
    note_fault,
    pause_at,
    push_initial,
    write_back,
)
from mazurka.stateful.kernels.store import (
    NOTHING,
    copy_words,
    fetch_logged,
    hash_record,
    insert_bits,
    insert_inline,
    insert_logged,
    tables_in,
)
from mazurka.stateful.kernels.successors import (
    MOVED,
    STOPPED,
    WAITING,
    fault_of,
    following,
    gather,
    move_of,
    successors_in,
)

STARTED = np.uint64(8)
BRANCHED = np.uint64(16)
FLAGS = np.uint64(31)
MOVING = np.uint64(MOVED)
WAITS, STOPS = np.uint64(WAITING), np.uint64(STOPPED)

CHOICE_SHIFT = np.uint64(blocks.CHOICE_SHIFT)
CHOICE_MASK = np.uint64((1 << blocks.CHOICE_BITS) - 1)
THREAD_SHIFT = np.uint64(blocks.THREAD_SHIFT)


@compiled
def progress_word(flags: Any, thread: Any, choice: Any) -> Any:
    return flags | (np.uint64(choice) << CHOICE_SHIFT) | (np.uint64(thread) << THREAD_SHIFT)


@compiled
def start(block: Any) -> Any:
    """Put the initial state, which lies in the buffer, into the store and on the stack."""
    initial, words = block[blocks.BUFFER], block[blocks.WORDS]
    if block[blocks.INLINE] == blocks.IN_TABLE:
        insert_inline(tables_in(block), peek(initial, 0), hash_record(initial, 1))
        poke(block[blocks.STACK], 0, peek(initial, 0))
        write_back(block, 1, 1, 1, 0)
    elif block[blocks.INLINE] == blocks.AS_BITS:
        insert_bits(tables_in(block), block[blocks.HASHES], hash_record(initial, words))
        copy_words(block[blocks.LOG], initial, words)
        write_back(block, 1, 1, 1, 0)
    else:
        push_initial(block)


@compiled
def run(address: Any) -> Any:
    """Search on until something needs Python's attention; the reason."""
    block = block_at(address)
    if block[blocks.SIZE] == 0:
        start(block)
    machine = machine_in(block)
    tables = tables_in(block)
    successors = successors_in(block)
    inline, bits = block[blocks.INLINE] == blocks.IN_TABLE, block[blocks.INLINE] == blocks.AS_BITS
    hashes = block[blocks.HASHES]
    words, threads, ahead = machine.words, machine.threads, block[blocks.MOST_SUCCESSORS]
    room, full_at = block[blocks.ROOM], block[blocks.FULL_AT]
    stack, frames = block[blocks.STACK], block[blocks.PROGRESS]
    size, height, deepest = block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST]
    transitions = block[blocks.TRANSITIONS]
    last = transitions + block[blocks.BUDGET]
    reason = blocks.DONE
    while height > 0:
        reason = pause_at(transitions, last, size, full_at, height, room)
        if reason != blocks.DONE:
            break
        top = height - 1
        progress = peek(frames, top)
        flags = progress & FLAGS
        choice = np.int64((progress >> CHOICE_SHIFT) & CHOICE_MASK)
        thread = np.int64(progress >> THREAD_SHIFT)
        source = stack + 8 * top
        if not inline:
            source = tables.log + 8 * words * np.int64(peek(stack, top))
        if machine.race_wanted and flags & STARTED == NOTHING:
            outcome = race_at(machine, block, source, successors.states)
            if outcome == TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            poke(frames, top, progress | STARTED)
            if outcome == RACE_FOUND:
                block[blocks.FRAME] = top
                reason = blocks.RACE
                break
        flags |= STARTED
        pushed = False
        while thread < threads and not pushed and reason == blocks.DONE:
            count, next_thread, next_choice, outcomes = gather(
                machine, tables, successors, source, thread, choice, threads, ahead, False
            )
            flags |= np.uint64(outcomes)
            if not inline and not bits:
                for successor in range(count):
                    fetch_logged(tables, words, peek(successors.hashes, successor))
            for successor in range(count):
                transitions += 1
                hashed = peek(successors.hashes, successor)
                record = successors.states + 8 * words * successor
                fault = fault_of(successors, successor)
                entry = peek(record, 0)
                if fault >= blocks.FIRST_DEAD_END:
                    pushed = False
                elif inline:
                    pushed = insert_inline(tables, entry, hashed)
                elif bits:
                    pushed = insert_bits(tables, hashes, hashed)
                    if pushed:
                        copy_words(tables.log + 8 * words * height, record, words)
                        entry = np.uint64(height)
                else:
                    position = insert_logged(tables, size, words, record, hashed)
                    pushed = position == size
                    entry = np.uint64(position)
                if pushed:
                    flags |= BRANCHED
                    size += 1
                    poke(stack, height, entry)
                    poke(frames, height, NOTHING)
                    height += 1
                    deepest = max(deepest, height)
                tried_thread, tried_choice = move_of(successors, successor)
                if fault != 0 and (machine.faults_wanted >> fault) & 1:
                    reason = note_fault(block, top, tried_thread, tried_choice)
                if pushed or reason == blocks.FAULT:
                    next_thread, next_choice = following(
                        machine, source, tried_thread, tried_choice
                    )
                    poke(frames, top, progress_word(flags, next_thread, next_choice))
                    break
            thread, choice = next_thread, next_choice
        if reason == blocks.FAULT:
            break
        if pushed:
            continue
        if machine.hang_wanted and flags & (BRANCHED | MOVING) == MOVING:
            poke(frames, top, progress_word(flags, threads, 0))  # should there be no room
            reason = hang_at(machine, block, source)
            block[blocks.FRAME] = top
            if reason == blocks.WALK_FULL:
                break
        height -= 1
        if reason != blocks.DONE:
            break
        if machine.deadlock_wanted and flags & MOVING == NOTHING:
            waits, stopped = flags & WAITS != NOTHING, flags & STOPS != NOTHING
            if note_end(block, waits, stopped):
                block[blocks.FRAME] = top
                reason = blocks.STUCK
                break
    write_back(block, size, height, deepest, transitions)
    return reason
