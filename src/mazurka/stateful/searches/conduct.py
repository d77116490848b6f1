"""Conducts a search that runs in slices: limits, progress, and what to do with what it finds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from mazurka.analysis.standstill import examine_standstill, is_deadlock
from mazurka.analysis.stops import Stops
from mazurka.deadline import TimeLimitError, last_moment, seconds_left
from mazurka.errors import InternalError
from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import Fault
from mazurka.ir.remembering import share_interpreter
from mazurka.search import Move, Observer, SearchOptions, SearchResult, Statistics, Violation
from mazurka.search.races import races_between
from mazurka.search.resources import default_limit_bytes
from mazurka.stateful.hangs import QuietStates, is_hang, make_hang
from mazurka.stateful.quotient import name_classes, unfold

SLICE_TRANSITIONS = 1 << 18
FIRST_SLICE = 1 << 12
"""The first slices are short, so that short searches are told what they have done."""
LONGEST_SLICE = 0.1
"""So many seconds a slice should take at most where there is a time limit."""
LEAST_PAUSE = 0.05
"""What takes less is done whether or not there is time."""
LEAST_SLICE = 1 << 6
"""The first slice, and the shortest, where there is a time limit.  Even few transitions may take
long: the first ones that touch a large table make the system clear its pages."""


class Conductor:
    """Keeps the books of one search.

    The methods that take a finding answer whether the search is over.  Every finding is checked
    on the reference interpreter where it stands: if that disagrees with the native code, the run
    ends with an internal error instead of a verdict.
    """

    def __init__(self, native: NativeProgram, options: SearchOptions, observer: Observer) -> None:
        self.native = native
        self.options = options
        self.observer = observer
        self.interpreter = Interpreter(native.program)
        self.remembering = share_interpreter(native.program)
        self.stops = Stops(native.program)
        self.limit_bytes = options.share_bytes or options.limit_bytes or default_limit_bytes()
        self.statistics = Statistics()
        self.other_bytes = 0
        """What the search takes beside its table: stack, origins."""
        self.violation: Violation | None = None
        self.pending: Callable[[], Violation] | None = None
        self.quiet: QuietStates | None = None
        self.hang_found = False
        self.limits: list[str] = []
        self.rate = float("inf")
        """Transitions a second in the last slice."""
        self.limit_seconds = options.limit_seconds
        """What the search may take; less than was asked for where preparing has taken some."""

    def set_limits(self, options: SearchOptions) -> None:
        """Let a search that has reached a limit go on with others."""
        self.options = options
        self.limits.clear()

    def run(self, search_slice: Callable[[int], bool]) -> SearchResult:
        """Call `search_slice(budget)` until it says that the search is over, or a limit does."""
        started = time.perf_counter()
        left = [each for each in (self.options.limit_seconds, seconds_left()) if each is not None]
        self.limit_seconds = min(left, default=None)
        budget = FIRST_SLICE if self.limit_seconds is None else LEAST_SLICE
        try:
            over = False
            while not over:
                before = self.statistics
                over = search_slice(self.fit(budget))
                budget = min(2 * budget, SLICE_TRANSITIONS)
                seconds = time.perf_counter() - started
                self.note_rate(before, seconds)
                self.statistics = replace(self.statistics, seconds=seconds)
                self.observer.progress(self.statistics)
                over = over or self.limit_reached(seconds)
        except KeyboardInterrupt:
            self.limits.append("interrupted")
        except TimeLimitError:
            self.limits.append("time")
        seconds = time.perf_counter() - started
        statistics = replace(self.statistics, seconds=seconds)
        if self.pending is not None:
            with last_moment():
                self.violation = self.pending()
        notes: tuple[str, ...] = ()
        if self.violation is None:
            properties = self.options.properties
            notes = self.stops.notes(complete=not self.limits, properties=properties)
        return SearchResult(
            statistics,
            self.violation,
            tuple(self.limits),
            notes,
            interchangeable=name_classes(self.native),
        )

    def note_rate(self, before: Statistics, seconds: float) -> None:
        """Note how fast the last slice was.  A search may become slower from slice to slice, as
        where each state touches memory that was never touched before."""
        taken = seconds - before.seconds
        if taken > 0:
            self.rate = (self.statistics.transitions - before.transitions) / taken

    def fit(self, budget: int) -> int:
        """The part of a budget that takes neither longer than half the time that is left, nor, in
        case the next slice is slower, longer than `LONGEST_SLICE`, nor more transitions than are
        left."""
        seconds, transitions = self.statistics.seconds, self.statistics.transitions
        if self.options.limit_transitions is not None:
            budget = max(min(budget, self.options.limit_transitions - transitions), 1)
        if self.limit_seconds is None or not seconds:
            return budget
        left = max(self.limit_seconds - seconds, 0.0)
        rate = min(self.rate, transitions / seconds)
        return max(min(budget, int(rate * min(left / 2, LONGEST_SLICE))), LEAST_SLICE)

    def has_time(self, seconds: float) -> bool:
        """Whether something that takes so long, and cannot be interrupted, ends in time."""
        left = seconds_left()
        return left is None or seconds < max(left, LEAST_PAUSE)

    def limit_reached(self, seconds: float) -> bool:
        if self.limit_seconds is not None and seconds >= self.limit_seconds:
            self.limits.append("time")
            return True
        most = self.options.limit_transitions
        if most is not None and self.statistics.transitions >= most:
            self.limits.append("transitions")
            return True
        if self.options.cancelled is not None and self.options.cancelled():
            self.limits.append("cancelled")
            return True
        used = self.statistics.table_bytes + self.other_bytes
        if used > self.limit_bytes and not self.obtain_memory():
            return self.out_of_memory()
        return False

    def obtain_memory(self) -> bool:
        """Ask for more memory than the search began with; whether there is some."""
        more = self.options.more_bytes() if self.options.more_bytes is not None else 0
        if more <= self.limit_bytes:
            return False
        self.limit_bytes = more
        return True

    def out_of_memory(self) -> bool:
        return self.out_of("memory")

    def out_of(self, limit: str) -> bool:
        """End the search because something is used up, and note what."""
        self.limits.append(limit)
        return True

    def count(self, statistics: Statistics, *, other_bytes: int) -> None:
        """Take over what a search has counted, all but the time; its peak never falls."""
        self.other_bytes = other_bytes
        before, all_bytes = self.statistics, statistics.table_bytes + other_bytes
        peak = max(statistics.peak_bytes, all_bytes, before.peak_bytes)
        self.statistics = replace(statistics, seconds=before.seconds, peak_bytes=peak)

    def unpack(self, words: list[int]) -> State:
        return self.native.layout.unpack(words)

    def confirm_fault(
        self, words: list[int], move: Move, path: Callable[[], tuple[Move, ...]]
    ) -> bool:
        step = self.interpreter.step(self.unpack(words), move.thread, move.choice)
        if step.outcome is not Outcome.FAULT or step.fault is None:
            raise InternalError("a fault in the native code is none in the interpreter")
        if step.fault.fault is Fault.BOUND:
            if step.fault.message not in self.limits:
                self.limits.append(step.fault.message)
            return False
        kind = str(step.fault.fault)
        return self.record_violation(
            lambda: unfold(self.native, Violation(kind, (*path(), move)))[0]
        )

    def examine_stuck(self, words: list[int], path: Callable[[], tuple[Move, ...]]) -> bool:
        """Look at a state in which nobody moves, and somebody waits or is stopped."""
        state = self.unpack(words)
        found = examine_standstill(self.remembering, state)
        if found is None:
            raise InternalError("nobody moves in the native code, but somebody in the interpreter")
        if not found.deadlocked:
            self.stops.note(state, found)
            return False
        if not is_deadlock(self.interpreter, state):
            raise InternalError("a deadlock in the native code is none in the interpreter")
        return self.record_violation(lambda: unfold(self.native, Violation("deadlock", path()))[0])

    def examine_quiet(self, words: list[int], path: Callable[[], tuple[Move, ...]]) -> bool:
        """Look at a state in which threads go round for ever and change nothing shared."""
        state = self.unpack(words)
        if self.quiet is None:
            self.quiet = QuietStates(self.remembering)
        found = self.quiet.examine(state)
        if found is None:
            raise InternalError("a state is quiet in the native code, but not in the interpreter")
        if not found.hanging:
            self.stops.note_quiet(state, found.stopped, excused=found.is_excused)
            return False
        if not is_hang(self.interpreter, state):
            raise InternalError("a hang in the native code is none in the interpreter")
        self.hang_found = True

        def make() -> Violation:
            real, there = unfold(self.native, Violation("hang", path()))
            return make_hang(Interpreter(self.native.origin), there or state, real.path)

        return self.record_violation(make)

    def confirm_race(self, words: list[int], path: Callable[[], tuple[Move, ...]]) -> bool:
        state = self.unpack(words)
        moved = [
            (Move(step.thread, choice), step)
            for choice, step in self.interpreter.steps(state)
            if step.happened
        ]
        races = races_between(self.native.program, moved)
        if not races:
            raise InternalError("a race in the native code is none in the interpreter")
        first, second, _ = races[0]
        return self.record_violation(
            lambda: unfold(self.native, Violation("race", path(), (first, second)))[0]
        )

    def record_violation(self, make: Callable[[], Violation]) -> bool:
        """Keep the first violation; later ones only matter to the counts.

        A search that is over keeps its arrays: the schedule can be read off when the clock stands.
        """
        if self.options.stop_at_first:
            self.pending = make
            return True
        if self.violation is None:
            self.violation = make()
        return False
