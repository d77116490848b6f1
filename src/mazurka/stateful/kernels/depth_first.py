"""Depth-first search over all interleavings.

The stack holds the path from the initial state to the current one, so a violation's schedule can
be read off it.  A frame remembers its state (the word itself where states are inline, else the
position in the log) and how far its moves have been tried.

The loop runs in slices: it returns to Python after a number of transitions, to grow an array, or
because it found something, and can go on from where it was.
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
    words_at,
)
from mazurka.stateful.kernels.races import RACE_FOUND, TOO_LONG, race_at
from mazurka.stateful.kernels.store import (
    NOTHING,
    hash_words,
    insert_inline,
    insert_logged,
    tables_in,
)

# A frame's flags.
MOVED = np.uint64(1)
WAITING = np.uint64(2)
STOPPED = np.uint64(4)
STARTED = np.uint64(8)
FLAGS = np.uint64(15)

CHOICE_SHIFT = np.uint64(blocks.CHOICE_SHIFT)
CHOICE_MASK = np.uint64((1 << blocks.CHOICE_BITS) - 1)
THREAD_SHIFT = np.uint64(blocks.THREAD_SHIFT)


@compiled
def progress_word(flags: Any, thread: Any, choice: Any) -> Any:
    return flags | (np.uint64(choice) << CHOICE_SHIFT) | (np.uint64(thread) << THREAD_SHIFT)


@compiled
def start(block: Any) -> Any:
    """Put the initial state, which lies in the buffer, into the store and on the stack."""
    tables = tables_in(block)
    words = block[blocks.WORDS]
    buffer = words_at(block[blocks.BUFFER], block[blocks.BUFFER_LENGTH])
    stack = words_at(block[blocks.STACK], block[blocks.ROOM])
    if block[blocks.INLINE]:
        insert_inline(tables.table, tables.mask, buffer[0])
        stack[0] = buffer[0]
    else:
        insert_logged(tables, 0, words, buffer, 0, hash_words(buffer, 0, words))
    block[blocks.SIZE] = block[blocks.HEIGHT] = block[blocks.DEEPEST] = 1


@compiled
def run(address: Any) -> Any:
    """Search on until something needs Python's attention; the reason."""
    block = block_at(address)
    if block[blocks.SIZE] == 0:
        start(block)
    machine = machine_in(block)
    tables = tables_in(block)
    inline = block[blocks.INLINE] != 0
    words, threads = machine.words, machine.threads
    room, full_at = block[blocks.ROOM], block[blocks.FULL_AT]
    stack = words_at(block[blocks.STACK], room)
    frames = words_at(block[blocks.PROGRESS], room)
    buffer = words_at(block[blocks.BUFFER], block[blocks.BUFFER_LENGTH])
    target = block[blocks.BUFFER]
    size, height, deepest = block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST]
    transitions = block[blocks.TRANSITIONS]
    last = transitions + block[blocks.BUDGET]
    reason = blocks.DONE
    while height > 0:
        if transitions >= last:
            reason = blocks.SLICE
            break
        if size >= full_at:
            reason = blocks.STORE_FULL
            break
        if height >= room:
            reason = blocks.STACK_FULL
            break
        top = height - 1
        progress = frames[top]
        flags = progress & FLAGS
        choice = np.int64((progress >> CHOICE_SHIFT) & CHOICE_MASK)
        thread = np.int64(progress >> THREAD_SHIFT)
        where = np.int64(stack[top]) * words
        source = block[blocks.STACK] + 8 * top if inline else block[blocks.LOG] + 8 * where
        if machine.race_wanted and flags & STARTED == NOTHING:
            outcome = race_at(machine, block, source, target)
            if outcome == TOO_LONG:
                reason = blocks.FOOTPRINT_FULL
                break
            frames[top] = progress | STARTED
            if outcome == RACE_FOUND:
                reason = blocks.RACE
                break
        flags |= STARTED
        pushed = False
        while thread < threads:
            result = call_step(machine.step, source, thread, choice, target, 0)
            tried_thread, tried_choice = thread, choice
            if machine.any_choice:
                if inline:
                    bound = choices_at(machine, stack, top, thread)
                else:
                    bound = choices_at(machine, tables.log, where, thread)
                choice += 1
                if choice >= bound:
                    choice = np.int64(0)
                    thread += 1
            else:
                thread += 1
            if result < 0:
                if machine.observers[tried_thread] == 0:
                    if result == -1:
                        flags |= WAITING
                    elif result == -2:
                        flags |= STOPPED
                continue
            transitions += 1
            if machine.observers[tried_thread] == 0:
                flags |= MOVED
            if inline:
                position = np.int64(0)
                pushed = insert_inline(tables.table, tables.mask, buffer[0])
            else:
                hashed = hash_words(buffer, 0, words)
                position = insert_logged(tables, size, words, buffer, 0, hashed)
                pushed = position == size
            if pushed:
                size += 1
                stack[height] = buffer[0] if inline else np.uint64(position)
                frames[height] = NOTHING
                height += 1
                deepest = max(deepest, height)
            fault = result >> 32
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                block[blocks.FAULT_CODE] = fault
                block[blocks.FRAME] = top
                block[blocks.MOVE_THREAD] = tried_thread
                block[blocks.MOVE_CHOICE] = tried_choice
                reason = blocks.FAULT
            if pushed or reason == blocks.FAULT:
                frames[top] = progress_word(flags, thread, choice)
                break
        if reason == blocks.FAULT:
            break
        if pushed:
            continue
        height -= 1
        if machine.deadlock_wanted and flags & (MOVED | WAITING | STOPPED) == WAITING:
            reason = blocks.DEADLOCK
            break
    block[blocks.SIZE], block[blocks.HEIGHT], block[blocks.DEEPEST] = size, height, deepest
    block[blocks.TRANSITIONS] = transitions
    return reason
