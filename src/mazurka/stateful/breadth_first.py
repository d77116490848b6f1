"""Breadth-first search: counterexamples are shortest.

States lie in the store's log in order of discovery, so the log is the queue: a level is a range
of positions.  Beside each state its origin is kept: the position it was reached from and the move.

`expand` can also be told to take only the moves of the thread that moved last, or only those of
the others; `mazurka.stateful.minimize` uses this to search by context switches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.ir.native import NativeProgram
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.machine import call_step, compiled, prefetch
from mazurka.stateful.memory import Words, reserve
from mazurka.stateful.races import FOOTPRINT_TOO_LONG, RACE_FOUND, race_at, race_tables
from mazurka.stateful.store import Store, add_first, hash_words, insert_logged
from mazurka.stateful.strategy import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful.view import choices_at, view

# Why the loop came back.
SLICE, LEVEL_DONE, STORE_FULL, FAULT, DEADLOCK, RACE, TOO_LONG = range(7)

# Positions in the control array.
(
    SIZE, TRANSITIONS, POSITION, END, BUDGET, FAULT_CODE, MOVE_THREAD, MOVE_CHOICE, SUCCESSOR,
    RACE_CHECKED,
) = range(10)  # fmt: skip
CONTROL_WORDS = 10

# Which moves to take.
ALL_MOVES, SAME_THREAD, OTHER_THREADS = range(3)

# An origin: position of the predecessor, then thread, then choice.
ORIGIN_SHIFT = np.uint64(24)
THREAD_SHIFT = np.uint64(16)
CHOICE_MASK = np.uint64((1 << 16) - 1)
THREAD_MASK = np.uint64((1 << 8) - 1)


class Successors(NamedTuple):
    """The successors of one state, gathered before any of them is looked up."""

    states: Words
    hashes: Words
    moves: Words
    results: np.ndarray[Any, np.dtype[np.int64]]


@compiled
def gather(
    machine: Any,
    log: Any,
    start: Any,
    source: Any,
    successors: Any,
    words: Any,
    tables: Any,
    moves: Any,
    last: Any,
) -> Any:
    """Execute the wanted moves of a state; how many succeed, and the flags of the others.

    Each successor's place in the table is fetched ahead: the next loop finds it in the cache.
    """
    table_base = np.int64(tables.table.ctypes.data)
    base = np.int64(successors.states.ctypes.data)
    count = 0
    moved = waiting = stopped = False
    for thread in range(machine.threads):
        if moves == SAME_THREAD and thread != last:
            continue
        kept = moves != OTHER_THREADS or thread != last
        bound = choices_at(machine, log, start, thread) if machine.any_choice else np.int64(1)
        for choice in range(bound):
            target = base + 8 * words * count
            result = call_step(machine.step, source, thread, choice, target, 0)
            if result < 0:
                if machine.observer[thread] == 0:
                    waiting |= result == -1
                    stopped |= result == -2
                continue
            moved |= machine.observer[thread] == 0
            if not kept:
                continue
            if moves != ALL_MOVES:
                successors.states[count * words + words - 1] = np.uint64(thread)
            hashed = hash_words(successors.states, count * words, words)
            prefetch(table_base + 8 * np.int64(hashed & tables.mask))
            successors.hashes[count] = hashed
            successors.moves[count] = (np.uint64(thread) << THREAD_SHIFT) | np.uint64(choice)
            successors.results[count] = result
            count += 1
    return count, waiting and not moved and not stopped


@compiled
def expand(
    machine: Any,
    tables: Any,
    origins: Any,
    successors: Any,
    races: Any,
    words: Any,
    moves: Any,
    full_at: Any,
    control: Any,
) -> Any:
    """Expand the states from `POSITION` up to `END`; why it stopped."""
    log = tables.log
    log_base = np.int64(log.ctypes.data)
    scratch = np.int64(successors.states.ctypes.data)
    size, position, end = control[SIZE], control[POSITION], control[END]
    transitions = control[TRANSITIONS]
    last_transition = transitions + control[BUDGET]
    first = control[SUCCESSOR]
    reason = LEVEL_DONE
    while position < end:
        if transitions >= last_transition:
            reason = SLICE
            break
        if size + successors.moves.size >= full_at:
            reason = STORE_FULL
            break
        start = position * words
        source = log_base + 8 * start
        if machine.race_wanted and moves != SAME_THREAD and control[RACE_CHECKED] == 0:
            outcome = race_at(machine, races, source, scratch)
            if outcome == FOOTPRINT_TOO_LONG:
                reason = TOO_LONG
                break
            control[RACE_CHECKED] = 1
            if outcome == RACE_FOUND:
                reason = RACE
                break
        last = np.int64(log[start + words - 1])
        count, deadlock = gather(
            machine, log, start, source, successors, words, tables, moves, last
        )
        for successor in range(first, count):
            transitions += 1
            found = insert_logged(
                tables.table, tables.mask, log, size, words,
                successors.states, successor * words, successors.hashes[successor],
            )  # fmt: skip
            if found == size:
                origins[size] = (np.uint64(position) << ORIGIN_SHIFT) | successors.moves[successor]
                size += 1
            fault = successors.results[successor] >> 32
            if fault != 0 and (machine.faults_wanted >> fault) & 1:
                move = successors.moves[successor]
                control[FAULT_CODE] = fault
                control[MOVE_THREAD] = np.int64((move >> THREAD_SHIFT) & THREAD_MASK)
                control[MOVE_CHOICE] = np.int64(move & CHOICE_MASK)
                first = successor + 1
                reason = FAULT
                break
        if reason == FAULT:
            break
        first = 0
        control[RACE_CHECKED] = 0
        position += 1
        if deadlock and machine.deadlock_wanted and moves != SAME_THREAD:
            reason = DEADLOCK
            break
    control[SIZE], control[POSITION], control[TRANSITIONS] = size, position, transitions
    control[SUCCESSOR] = first
    return reason


class BreadthFirst:
    """The Python side of the loop: owns the arrays, follows origins back to the start."""

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        *,
        extra_words: int = 0,
    ) -> None:
        self.native = native
        self.layout = native.layout
        self.words = self.layout.words + extra_words
        self.conductor = Conductor(native, options, observer)
        self.machine = view(native, options)
        self.races = race_tables(native, wanted=self.machine.race_wanted)
        limit = self.conductor.limit_bytes
        self.store = Store(self.words, inline=False, limit_bytes=limit)
        self.origins = reserve(limit // 8)
        most = sum(max(bounds) for bounds in self.layout.choices)
        self.successors = Successors(
            np.zeros(most * self.words, np.uint64),
            np.zeros(most, np.uint64),
            np.zeros(most, np.uint64),
            np.zeros(most, np.int64),
        )
        self.control = np.zeros(CONTROL_WORDS, np.int64)
        self.levels = 0

    def insert_start(self, *extra: int) -> None:
        initial = self.layout.pack(self.layout.program.initial_state())
        buffer = np.array([*initial, *extra], np.uint64)
        size = int(self.control[SIZE])
        add_first(self.store.tables, False, size, self.words, buffer)
        self.origins[size] = 0
        self.control[SIZE] = size + 1

    def words_at(self, position: int) -> Words:
        start = position * self.words
        return self.store.log[start : start + self.layout.words]

    def path(self, position: int, starts: int = 1) -> tuple[Move, ...]:
        """The schedule that leads to the state at a position of the log."""
        moves = []
        while position >= starts:
            origin = int(self.origins[position])
            moves.append(Move(origin >> 16 & 0xFF, origin & 0xFFFF))
            position = origin >> 24
        return tuple(reversed(moves))

    def expand(self, budget: int, moves: int) -> int:
        self.control[BUDGET] = budget
        return int(
            expand(
                self.machine,
                self.store.tables,
                self.origins,
                self.successors,
                self.races,
                self.words,
                moves,
                self.store.full_at,
                self.control,
            )
        )

    def count(self) -> None:
        size = int(self.control[SIZE])
        self.conductor.count(
            states=size,
            transitions=int(self.control[TRANSITIONS]),
            depth=self.levels,
            table_bytes=self.store.used_bytes(size),
            other_bytes=size * 8,
            peak_bytes=self.store.peak_bytes,
        )

    def run(self) -> SearchResult:
        self.insert_start()
        self.control[END] = 1
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        control, conductor = self.control, self.conductor
        reason = self.expand(budget, ALL_MOVES)
        self.count()
        position = int(control[POSITION])
        if reason == STORE_FULL:
            return not self.make_room()
        if reason == TOO_LONG:
            self.races = race_tables(self.native, wanted=True, like=self.races)
        elif reason == FAULT:
            move = Move(int(control[MOVE_THREAD]), int(control[MOVE_CHOICE]))
            return conductor.fault(self.words_at(position), move, lambda: self.path(position))
        elif reason == DEADLOCK:
            return conductor.deadlock(lambda: self.path(position - 1))
        elif reason == RACE:
            return conductor.race(self.words_at(position), lambda: self.path(position))
        elif reason == LEVEL_DONE:
            return self.next_level()
        return False

    def make_room(self) -> bool:
        size = int(self.control[SIZE])
        return self.store.grow(size, size * 8) or not self.conductor.out_of_memory()

    def next_level(self) -> bool:
        if self.control[END] == self.control[SIZE]:
            return True
        self.levels += 1
        self.control[END] = self.control[SIZE]
        return False


def search_breadth_first(
    native: NativeProgram, options: SearchOptions, observer: Observer
) -> SearchResult:
    return BreadthFirst(native, options, observer).run()
