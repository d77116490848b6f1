"""The same violation with the fewest context switches.

A search over pairs (state, thread that moved last), level by level: level c holds what can be
reached with c switches.  A level is first closed under moves of the thread that is running, then
the other threads' moves open the next one.  Within a level shorter schedules come first.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.interpreter import Interpreter
from mazurka.ir.native.step import NativeProgram, native
from mazurka.ir.program import Program, Span
from mazurka.search import PROPERTIES, Observer, SearchOptions, Violation
from mazurka.stateful import blocks
from mazurka.stateful.searches.breadth_first import BreadthFirst


def fewest_switches(
    program: Program, violation: Violation, options: SearchOptions, observer: Observer
) -> Violation | None:
    """A violation of the same kind (for a fault: at the same line) with as few switches as can be.

    None where the search runs into the limits of `options` first.
    """
    wanted = {violation.kind} if violation.kind in PROPERTIES else {"assert"}
    narrowed = replace(options, properties=frozenset(wanted), order="bfs", stop_at_first=True)
    search = _BySwitches(native(program), narrowed, observer, violation)
    search.run()
    return search.conductor.violation


class _BySwitches(BreadthFirst):
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        violation: Violation,
    ) -> None:
        threads = range(len(native.program.threads))
        super().__init__(native, options, observer, extra=tuple((thread,) for thread in threads))
        self.kind = violation.kind
        self.line = _line_of(native.program, violation)
        self.numbers[blocks.MOVES] = blocks.SAME_THREAD
        self.level_start = 0

    def deal_with(self, reason: int) -> bool:
        if reason == blocks.FAULT and not self.is_the_same():
            return False
        return super().deal_with(reason)

    def is_the_same(self) -> bool:
        numbers, conductor = self.numbers, self.conductor
        state = conductor.unpack(self.words_at(numbers[blocks.POSITION]))
        thread, choice = numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE]
        fault = conductor.interpreter.step(state, thread, choice).fault
        return fault is not None and (fault.fault, fault.span) == (self.kind, self.line)

    def next_level(self) -> bool:
        """Close the level under the running threads' moves, then let the others move."""
        numbers = self.numbers
        size, end = numbers[blocks.SIZE], numbers[blocks.END]
        if numbers[blocks.MOVES] == blocks.OTHER_THREADS:
            if end == size:
                return True
            numbers[blocks.MOVES] = blocks.SAME_THREAD
            self.level_start = end
            self.depth += 1
        elif end == size:
            numbers[blocks.MOVES] = blocks.OTHER_THREADS
            numbers[blocks.POSITION] = self.level_start
            return False
        numbers[blocks.END] = size
        return False


def _line_of(program: Program, violation: Violation) -> Span | None:
    """Where a fault happens; None for what is not a fault."""
    if violation.kind in ("deadlock", "hang", "race"):
        return None
    interpreter = Interpreter(program)
    state = program.initial_state()
    fault = None
    for move in violation.path:
        step = interpreter.step(state, move.thread, move.choice)
        state, fault = step.state, step.fault
    return fault.span if fault is not None else None
