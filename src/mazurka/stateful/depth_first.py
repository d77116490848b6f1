"""Depth-first search over all interleavings.

The stack holds the path from the initial state to the current one, so a violation's schedule can
be read off it.  A frame remembers its state (the word itself where states are inline, else the
position in the log) and how far its moves have been tried.

The loop runs in slices: it returns to Python after a number of transitions, to grow an array, or
because it found something, and can go on from where it was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.ir.native import NativeProgram
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.machine import call_step, compiled
from mazurka.stateful.memory import Words, reserve
from mazurka.stateful.races import FOOTPRINT_TOO_LONG, RACE_FOUND, race_at, race_tables
from mazurka.stateful.store import (
    NOTHING,
    Store,
    add_first,
    hash_words,
    insert_inline,
    insert_logged,
)
from mazurka.stateful.strategy import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful.view import choices_at, view

# Why the loop came back.
SLICE, DONE, STORE_FULL, STACK_FULL, FAULT, DEADLOCK, RACE, TOO_LONG = range(8)

# Positions in the control array.
SIZE, TRANSITIONS, HEIGHT, DEEPEST, BUDGET, FAULT_CODE, FRAME, MOVE_THREAD, MOVE_CHOICE = range(9)
CONTROL_WORDS = 9

# A frame's progress: flags in the low bits, then the next choice, then the next thread.
MOVED = np.uint64(1)
WAITING = np.uint64(2)
STOPPED = np.uint64(4)
STARTED = np.uint64(8)
FLAGS = np.uint64(15)
CHOICE_SHIFT = np.uint64(4)
CHOICE_MASK = np.uint64((1 << 24) - 1)
THREAD_SHIFT = np.uint64(28)


class Stack(NamedTuple):
    at: Words
    progress: Words


@compiled
def run_slice(
    machine: Any,
    tables: Any,
    stack: Any,
    buffer: Any,
    races: Any,
    inline: Any,
    full_at: Any,
    control: Any,
) -> Any:
    """Search on until something needs Python's attention; the reason."""
    table, mask, log = tables
    words, threads = machine.words, machine.threads
    size, height = control[SIZE], control[HEIGHT]
    transitions, deepest = control[TRANSITIONS], control[DEEPEST]
    last = transitions + control[BUDGET]
    room = stack.at.size
    target = np.int64(buffer.ctypes.data)
    stack_base = np.int64(stack.at.ctypes.data)
    log_base = np.int64(log.ctypes.data)
    reason = DONE
    while height > 0:
        if transitions >= last:
            reason = SLICE
            break
        if size >= full_at:
            reason = STORE_FULL
            break
        if height >= room:
            reason = STACK_FULL
            break
        top = height - 1
        progress = stack.progress[top]
        flags = progress & FLAGS
        choice = np.int64((progress >> CHOICE_SHIFT) & CHOICE_MASK)
        thread = np.int64(progress >> THREAD_SHIFT)
        where = np.int64(stack.at[top]) * words
        source = stack_base + 8 * top if inline else log_base + 8 * where
        if machine.race_wanted and flags & STARTED == NOTHING:
            outcome = race_at(machine, races, source, target)
            if outcome == FOOTPRINT_TOO_LONG:
                reason = TOO_LONG
                break
            stack.progress[top] = progress | STARTED
            if outcome == RACE_FOUND:
                reason = RACE
                break
        flags |= STARTED
        pushed = False
        while thread < threads:
            result = call_step(machine.step, source, thread, choice, target, 0)
            tried_thread, tried_choice = thread, choice
            if machine.any_choice:
                if inline:
                    bound = choices_at(machine, stack.at, top, thread)
                else:
                    bound = choices_at(machine, log, where, thread)
                choice += 1
                if choice >= bound:
                    choice = np.int64(0)
                    thread += 1
            else:
                thread += 1
            if result < 0:
                if machine.observer[tried_thread] == 0:
                    if result == -1:
                        flags |= WAITING
                    elif result == -2:
                        flags |= STOPPED
                continue
            transitions += 1
            if machine.observer[tried_thread] == 0:
                flags |= MOVED
            if inline:
                new = insert_inline(table, mask, buffer[0])
                position = np.int64(0)
            else:
                hashed = hash_words(buffer, 0, words)
                position = insert_logged(table, mask, log, size, words, buffer, 0, hashed)
                new = position == size
            if new:
                size += 1
                stack.at[height] = buffer[0] if inline else np.uint64(position)
                stack.progress[height] = NOTHING
                stack.progress[top] = (
                    flags
                    | (np.uint64(choice) << CHOICE_SHIFT)
                    | (np.uint64(thread) << THREAD_SHIFT)
                )
                height += 1
                deepest = max(deepest, height)
                pushed = True
            fault = result >> 32
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                if not pushed:
                    stack.progress[top] = (
                        flags
                        | (np.uint64(choice) << CHOICE_SHIFT)
                        | (np.uint64(thread) << THREAD_SHIFT)
                    )
                control[FAULT_CODE] = result
                control[FRAME] = top
                control[MOVE_THREAD] = tried_thread
                control[MOVE_CHOICE] = tried_choice
                reason = FAULT
                break
            if pushed:
                break
        if reason == FAULT:
            break
        if pushed:
            continue
        height -= 1
        if machine.deadlock_wanted and flags & (MOVED | WAITING | STOPPED) == WAITING:
            reason = DEADLOCK
            break
    control[SIZE], control[HEIGHT] = size, height
    control[TRANSITIONS], control[DEEPEST] = transitions, deepest
    return reason


class DepthFirst:
    """The Python side of the loop: owns the arrays, reads schedules off the stack."""

    def __init__(self, native: NativeProgram, options: SearchOptions, observer: Observer) -> None:
        self.layout = native.layout
        self.conductor = Conductor(native, options, observer)
        self.machine = view(native, options)
        self.races = race_tables(native, wanted=self.machine.race_wanted)
        self.inline = self.layout.words == 1
        limit = self.conductor.limit_bytes
        self.store = Store(self.layout.words, inline=self.inline, limit_bytes=limit)
        self.stack = Stack(reserve(limit // 16), reserve(limit // 16))
        self.control = np.zeros(CONTROL_WORDS, np.int64)
        self.start()

    def start(self) -> None:
        initial = self.layout.pack(self.layout.program.initial_state())
        buffer = self.buffer = np.array(initial, np.uint64)
        add_first(self.store.tables, self.inline, 0, self.layout.words, buffer)
        self.stack.at[0] = buffer[0] if self.inline else 0
        self.control[SIZE] = self.control[HEIGHT] = self.control[DEEPEST] = 1

    def words_at(self, frame: int) -> Words:
        """The packed state of a frame."""
        if self.inline:
            return self.stack.at[frame : frame + 1]
        start = int(self.stack.at[frame]) * self.layout.words
        return self.store.log[start : start + self.layout.words]

    def move_of(self, frame: int) -> Move:
        """The move last tried in a frame: the one before the next."""
        progress = int(self.stack.progress[frame])
        choice = progress >> int(CHOICE_SHIFT) & int(CHOICE_MASK)
        thread = progress >> int(THREAD_SHIFT)
        if choice:
            return Move(thread, choice - 1)
        bound = int(choices_at(self.machine, self.words_at(frame), 0, thread - 1))
        return Move(thread - 1, bound - 1)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame."""
        return tuple(self.move_of(earlier) for earlier in range(frame))

    def bytes_beside_store(self) -> int:
        return int(self.control[DEEPEST]) * 16

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        control, conductor = self.control, self.conductor
        control[BUDGET] = budget
        reason = run_slice(
            self.machine,
            self.store.tables,
            self.stack,
            self.buffer,
            self.races,
            self.inline,
            self.store.full_at,
            control,
        )
        height = int(control[HEIGHT])
        conductor.count(
            states=int(control[SIZE]),
            transitions=int(control[TRANSITIONS]),
            depth=int(control[DEEPEST]),
            table_bytes=self.store.used_bytes(int(control[SIZE])),
            other_bytes=self.bytes_beside_store(),
            peak_bytes=self.store.peak_bytes,
        )
        if reason == STORE_FULL:
            return not self.store.grow(int(control[SIZE]), self.bytes_beside_store()) and (
                conductor.out_of_memory()
            )
        if reason == STACK_FULL:
            return conductor.out_of_memory()
        if reason == TOO_LONG:
            self.races = race_tables(native=self.conductor.native, wanted=True, like=self.races)
            return False
        if reason == FAULT:
            frame = int(control[FRAME])
            move = Move(int(control[MOVE_THREAD]), int(control[MOVE_CHOICE]))
            return conductor.fault(self.words_at(frame), move, lambda: self.path(frame))
        if reason == DEADLOCK:
            return conductor.deadlock(lambda: self.path(height))
        if reason == RACE:
            return conductor.race(self.words_at(height - 1), lambda: self.path(height - 1))
        return bool(reason == DONE)


def search_depth_first(
    native: NativeProgram, options: SearchOptions, observer: Observer
) -> SearchResult:
    return DepthFirst(native, options, observer).run()
