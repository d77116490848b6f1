"""The same violation in fewer words: with the fewest steps, or with the fewest context switches.

Both are breadth-first searches for a violation of the same kind, and for a fault, at the same line.

The fewest switches: a search over pairs (state, thread that moved last), level by level: level c
holds what can be reached with c switches.  A level is first closed under moves of the thread that
is running, then the other threads' moves open the next one.  Within a level shorter schedules come
first.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.compiled.memory import Area
from mazurka.compiled.plain import call_step
from mazurka.ir.interpreter import State
from mazurka.ir.native.step import NativeProgram, native
from mazurka.ir.program import Program, Span
from mazurka.ir.remembering import share_interpreter
from mazurka.search import PROPERTIES, Move, Observer, SearchOptions, Violation
from mazurka.stateful import blocks
from mazurka.stateful.quotient import code_for
from mazurka.stateful.searches.breadth_first import BreadthFirst

"""The step function of `mazurka.ir.native.step`."""


def fewest_steps(
    program: Program, violation: Violation, options: SearchOptions, observer: Observer
) -> Violation | None:
    """The same violation after as few steps as can be.

    None where the search runs into the limits of `options` first.
    """
    narrowed = _narrow(options, violation)
    return _ForTheSame(code_for(program, narrowed), narrowed, observer, violation).find()


def fewest_switches(
    program: Program, violation: Violation, options: SearchOptions, observer: Observer
) -> Violation | None:
    """The same violation with as few context switches as can be.

    None where the search runs into the limits of `options` first.
    """
    return FewestSwitches(program, violation, observer).find(options)


class FewestSwitches:
    """Looks for the same violation with as few context switches as can be.

    A search that ran into a limit can be continued with another one.
    """

    def __init__(self, program: Program, violation: Violation, observer: Observer) -> None:
        self.program = program
        self.violation = violation
        self.observer = observer
        self.search: _BySwitches | None = None

    def find(self, options: SearchOptions, below: int | None = None) -> Violation | None:
        """The violation with fewer switches than `below`; None where there is none, or the search
        runs into the limits of `options` first.

        A search that goes on does not find what it has passed over: `below` only becomes smaller.
        """
        narrowed = _narrow(options, self.violation)
        if self.search is None:
            code = native(self.program)
            self.search = _BySwitches(code, narrowed, self.observer, self.violation)
        self.search.conductor.set_limits(narrowed)
        self.search.below = below
        enough = below is not None and below <= self.search.depth
        return None if enough else self.search.find()


def _narrow(options: SearchOptions, violation: Violation) -> SearchOptions:
    wanted = {violation.kind} if violation.kind in PROPERTIES else {"assert"}
    return replace(options, properties=frozenset(wanted), order="bfs", stop_at_first=True)


class _ForTheSame(BreadthFirst):
    """A search that passes over every violation but one."""

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        violation: Violation,
        *,
        extra: tuple[tuple[int, ...], ...] = ((),),
    ) -> None:
        super().__init__(native, options, observer, extra=extra)
        self.kind = violation.kind
        self.line = _line_of(native, violation)

    def find(self) -> Violation | None:
        """Search; other searches may follow, so an interruption is passed on."""
        result = self.run()
        if "interrupted" in result.limits:
            raise KeyboardInterrupt
        return result.violation

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


class _BySwitches(_ForTheSame):
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        violation: Violation,
    ) -> None:
        threads = range(len(native.program.threads))
        extra = tuple((thread,) for thread in threads)
        super().__init__(native, options, observer, violation, extra=extra)
        self.below: int | None = None
        self.numbers[blocks.MOVES] = blocks.SAME_THREAD
        self.level_start = 0

    def is_the_same(self) -> bool:
        """Pass over faults of threads that are switched to when there have been enough switches."""
        switched = self.numbers[blocks.MOVES] == blocks.OTHER_THREADS
        return self.depth + switched != self.below and super().is_the_same()

    def next_level(self) -> bool:
        """Close the level under the running threads' moves, then let the others move."""
        numbers = self.numbers
        size, end = numbers[blocks.SIZE], numbers[blocks.END]
        if numbers[blocks.MOVES] == blocks.OTHER_THREADS:
            self.depth += 1
            if end == size or self.depth == self.below:
                return True
            numbers[blocks.MOVES] = blocks.SAME_THREAD
            self.level_start = end
        elif end == size:
            numbers[blocks.MOVES] = blocks.OTHER_THREADS
            numbers[blocks.POSITION] = self.level_start
            return False
        numbers[blocks.END] = size
        return False


def _line_of(native: NativeProgram, violation: Violation) -> Span | None:
    """Where a fault happens; None for what is not a fault."""
    if violation.kind in ("deadlock", "hang", "race"):
        return None
    *before, last = violation.path
    state = _state_after(native, before)
    if state is None:
        return None
    fault = share_interpreter(native.program).step(state, last.thread, last.choice).fault
    return fault.span if fault is not None else None


def _state_after(native: NativeProgram, moves: list[Move]) -> State | None:
    """The state that moves lead to; None where one of them is not possible.

    By native code: interpreting a hundred thousand steps takes longer than most searches."""
    code = native.code(record=False, quick=True)
    step = native.plain_address(code)
    source, target = Area(native.layout.words), Area(native.layout.words)
    for number, word in enumerate(native.layout.pack(native.program.initial_state())):
        source.words[number] = word
    for move in moves:
        if call_step(step, source.address, move.thread, move.choice, target.address, 0) < 0:
            return None
        source, target = target, source
    return native.layout.unpack(source.words)
