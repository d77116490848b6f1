"""The same violation with the fewest context switches.

A search over pairs (state, thread that moved last), level by level: level c holds what can be
reached with c switches.  A level is first closed under moves of the thread that is running, then
the other threads' moves open the next one.  Within a level shorter schedules come first.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from mazurka.ir.interpreter import Interpreter
from mazurka.ir.native import NativeProgram
from mazurka.ir.program import Program, Span
from mazurka.stateful.breadth_first import (
    DEADLOCK,
    END,
    FAULT,
    LEVEL_DONE,
    MOVE_CHOICE,
    MOVE_THREAD,
    OTHER_THREADS,
    POSITION,
    RACE,
    SAME_THREAD,
    SIZE,
    STORE_FULL,
    TOO_LONG,
    BreadthFirst,
)
from mazurka.stateful.races import race_tables
from mazurka.stateful.strategy import Move, Observer, SearchOptions, Violation


def context_switches(path: tuple[Move, ...]) -> int:
    """How often a schedule passes from one thread to another."""
    return sum(one.thread != other.thread for one, other in pairwise(path))


def fewest_switches(
    program: Program, violation: Violation, options: SearchOptions, observer: Observer
) -> Violation | None:
    """A violation of the same kind (for a fault: at the same line) with as few switches as can be.

    None where the search runs into the limits of `options` first.
    """
    wanted = {"deadlock": {"deadlock"}, "race": {"race"}}.get(violation.kind, {"assert"})
    narrowed = replace(options, properties=frozenset(wanted), order="bfs", stop_at_first=True)
    search = _BySwitches(NativeProgram(program), narrowed, observer, violation)
    return search.run_by_switches()


class _BySwitches(BreadthFirst):
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        violation: Violation,
    ) -> None:
        super().__init__(native, options, observer, extra_words=1)
        self.kind = violation.kind
        self.line = self.line_of(violation)
        self.threads = len(native.program.threads)
        self.moves = SAME_THREAD
        self.level_start = 0

    def line_of(self, violation: Violation) -> Span | None:
        """Where a fault happens; None for what is not a fault."""
        if violation.kind in ("deadlock", "race"):
            return None
        interpreter = Interpreter(self.native.program)
        state = self.native.program.initial_state()
        for move in violation.path:
            step = interpreter.step(state, move.thread, move.choice)
            state = step.state
        return step.fault.span if step.fault is not None else None

    def run_by_switches(self) -> Violation | None:
        for thread in range(self.threads):
            self.insert_start(thread)
        self.control[END] = self.threads
        self.conductor.run(self.slice)
        return self.conductor.violation

    def slice(self, budget: int) -> bool:
        reason = self.expand(budget, self.moves)
        self.count()
        position = int(self.control[POSITION])
        if reason == STORE_FULL:
            return not self.make_room()
        if reason == TOO_LONG:
            self.races = race_tables(self.native, wanted=True, like=self.races)
        elif reason == FAULT:
            return self.same_fault(position)
        elif reason == DEADLOCK:
            return self.conductor.deadlock(lambda: self.path(position - 1, self.threads))
        elif reason == RACE:
            words = self.words_at(position)
            return self.conductor.race(words, lambda: self.path(position, self.threads))
        elif reason == LEVEL_DONE:
            return self.next_phase()
        return False

    def same_fault(self, position: int) -> bool:
        move = Move(int(self.control[MOVE_THREAD]), int(self.control[MOVE_CHOICE]))
        state = self.conductor.unpack(self.words_at(position))
        step = self.conductor.interpreter.step(state, move.thread, move.choice)
        if step.fault is None or (step.fault.fault, step.fault.span) != (self.kind, self.line):
            return False
        path = self.path(position, self.threads)
        return self.conductor.fault(self.words_at(position), move, lambda: path)

    def next_phase(self) -> bool:
        """Close the level under the running threads' moves, then let the others move."""
        control = self.control
        if self.moves == SAME_THREAD and control[END] < control[SIZE]:
            control[END] = control[SIZE]
        elif self.moves == SAME_THREAD:
            self.moves = OTHER_THREADS
            control[POSITION] = self.level_start
        else:
            if control[END] == control[SIZE]:
                return True
            self.moves = SAME_THREAD
            self.level_start = int(control[END])
            control[END] = control[SIZE]
            self.levels += 1
        return False
