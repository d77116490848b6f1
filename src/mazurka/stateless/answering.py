"""Searches over schedules as strategies: options in, verdict and statistics out.

A schedule search keeps one run, what is left to do along it, and the views of single threads.  That
is little, except for wakeup trees, which may grow with the number of traces; so the limit of memory
is held against what the process has taken since the search began.

A thread that might be started again is another matter than its past tells, while dynamic reductions
reason about what a thread would have done earlier.  Such programs, which no front end makes, are
searched with sleep sets alone, whatever was asked for: these rely on nothing but the conflict
between starting a thread and every step of it.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.errors import InternalError
from mazurka.ir.passes.starts import starts_again
from mazurka.ir.program import Program
from mazurka.ir.values.footprints import Footprints
from mazurka.search.observer import Observer
from mazurka.search.options import SearchOptions
from mazurka.search.resources import default_limit_bytes, resident_bytes
from mazurka.search.result import CUT_SHORT, Move, SearchResult, Statistics, Violation
from mazurka.stateless.ir_execution import IRExecution, PlainIRExecution
from mazurka.stateless.search import (
    BOUND,
    Exploration,
    ScheduleOptions,
    ScheduleSearch,
    Stopped,
)
from mazurka.stateless.sleep_sets import SleepSets

PRESERVED = frozenset({"assert", "deadlock"})
STARTED_AGAIN = "a thread might be started again: searched with sleep sets alone"
UNFINISHED = "self-check: the interpreter did not come to an end within the time limit"


def answer(
    program: Program, options: SearchOptions, observer: Observer, search: type[ScheduleSearch]
) -> SearchResult:
    """Run a search that keeps failures and deadlocks: each belongs to some trace, and what happens
    in one execution of a trace happens in all of them."""
    assert search.uses_sleep_sets, "executions are counted as traces"
    return _Answering(program, options, observer, search).answer()


class _Answering:
    """One search and what becomes of it."""

    def __init__(
        self,
        program: Program,
        options: SearchOptions,
        observer: Observer,
        search: type[ScheduleSearch],
    ) -> None:
        self.program = program
        self.options = options
        self.observer = observer
        self.again = bool(starts_again(Footprints(program)))
        self.search = SleepSets if self.again else search
        self.limit_bytes = options.limit_bytes or default_limit_bytes()
        self.bytes_before = resident_bytes()

    def answer(self) -> SearchResult:
        found = self.explore(IRExecution(self.program))
        notes = (STARTED_AGAIN,) if self.again else ()
        result = SearchResult(statistics_of(found), violation_in(found), found.limits, notes)
        if not self.options.self_check or CUT_SHORT.intersection(found.limits):
            return result
        return replace(result, notes=(*notes, self.checked(found)))

    def explore(self, execution: IRExecution) -> Exploration:
        options = ScheduleOptions(
            stop_at_first=self.options.stop_at_first,
            limit_seconds=self.options.limit_seconds,
            ignored=PRESERVED - self.options.properties,
        )
        return self.search(execution, options, self.progress).run()

    def progress(self, found: Exploration) -> None:
        self.observer.progress(statistics_of(found))
        if resident_bytes() - self.bytes_before > self.limit_bytes:
            found.limit("memory")
            raise Stopped

    def checked(self, found: Exploration) -> str:
        """The search once more, every step asked of the interpreter, no view remembered."""
        again = self.explore(PlainIRExecution(self.program))
        if CUT_SHORT.intersection(again.limits):
            return UNFINISHED
        if replace(again, seconds=0.0) != replace(found, seconds=0.0):
            raise InternalError(
                f"self-check: {found.executions:,} executions and {found.transitions:,}"
                f" transitions, but {again.executions:,} and {again.transitions:,} where no view"
                " is remembered"
            )
        return f"self-check: the interpreter's search of {found.executions:,} executions agrees"


def statistics_of(found: Exploration) -> Statistics:
    """Of each trace one execution at most is completed, so the traces need no count of their own
    (Godefroid, LNCS 1032, Theorem 5.5: a sleeping move cannot begin an execution that is new)."""
    return Statistics(
        transitions=found.transitions,
        depth=found.depth,
        seconds=found.seconds,
        executions=found.executions,
        partial_orders=found.executions,
    )


def violation_in(found: Exploration) -> Violation | None:
    first = next((finding for finding in found.findings if finding.kind != BOUND), None)
    if first is None:
        return None
    return Violation(first.kind, tuple(Move(*move) for move in first.schedule))
