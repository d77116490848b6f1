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

from mazurka.analysis.stops import Stops
from mazurka.cluster.option import CLUSTER, asked_workers
from mazurka.errors import InternalError
from mazurka.ir.passes.liveness import find_restarts
from mazurka.ir.program import Program
from mazurka.ir.values.footprints import Footprints
from mazurka.search import (
    CUT_SHORT,
    LOST_WORKER,
    Move,
    Observer,
    SearchOptions,
    SearchResult,
    Statistics,
    Violation,
)
from mazurka.search.resources import default_limit_bytes, resident_bytes
from mazurka.stateless.branches import BranchSearch, BranchWorker
from mazurka.stateless.explored import Exceeded, Explored, RunOptions
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.models.execution import IRExecution, PlainIRExecution
from mazurka.stateless.reduction.sleep_sets import BOUND, SleepSets
from mazurka.stateless.runs import choice_of, thread_of

PRESERVED = frozenset({"assert", "deadlock"})
STARTED_AGAIN = "a thread might be started again: searched with sleep sets alone"
PULSE_SECONDS = 0.1
"""How often somebody who watches is told."""
UNFINISHED = "self-check: the interpreter did not come to an end within the time limit"


def answer(
    program: Program, options: SearchOptions, observer: Observer, reduction: str
) -> SearchResult:
    """Run a search that keeps failures and deadlocks: each belongs to some trace, and what happens
    in one execution of a trace happens in all of them."""
    return _Answering(program, options, observer, reduction).answer()


class _Answering:
    """One search and what becomes of it."""

    def __init__(
        self, program: Program, options: SearchOptions, observer: Observer, reduction: str
    ) -> None:
        self.program = program
        self.options = options
        self.observer = observer
        self.again = bool(find_restarts(Footprints(program)))
        self.search = REDUCTIONS[SleepSets.name if self.again else reduction]
        self.limit_bytes = options.limit_bytes or default_limit_bytes()
        self.bytes_before = resident_bytes()

    def answer(self) -> SearchResult:
        notes: tuple[str, ...] = (STARTED_AGAIN,) if self.again else ()
        if self.options.value(CLUSTER):
            found, stops, more = self.explore_on_cluster()
            notes += more
        else:
            execution = IRExecution(self.program)
            found, stops = self.explore(execution), execution.stops
        if not found.failures:
            notes += stops.notes(complete=not found.limits, properties=self.options.properties)
        result = SearchResult(count_statistics(found), find_violation(found), found.limits, notes)
        if not self.options.self_check or CUT_SHORT.intersection(found.limits):
            return result
        return replace(result, notes=(*notes, self.check_again(found)))

    def explore(self, execution: IRExecution) -> Explored:
        return self.search(execution, self.run_options, self.progress).run()

    @property
    def run_options(self) -> RunOptions:
        return RunOptions(
            stop_at_first=self.options.stop_at_first,
            limit_seconds=self.options.limit_seconds,
            max_transitions=self.options.limit_transitions,
            report_every=PULSE_SECONDS,
            ignored=PRESERVED - self.options.properties,
        )

    def explore_on_cluster(self) -> tuple[Explored, Stops, tuple[str, ...]]:
        """Explore by the workers of a cluster; also what is to be said about that."""
        from mazurka.cluster.connection import Connection, HiredCrew
        from mazurka.cluster.crew import LostWorkerError, Post

        options, workers = self.options, asked_workers(self.options)
        bare = replace(self.program)  # without what was worked out about it, which cannot be sent

        def given(post: Post) -> tuple[object, ...]:
            share = None if options.limit_bytes is None else options.limit_bytes // post.size
            return bare, self.search.name, self.run_options, share

        try:
            with (
                Connection(options.value(CLUSTER), workers, self.observer) as connection,
                HiredCrew(connection, workers, BranchWorker, given, self.observer) as crew,
            ):
                search = BranchSearch(
                    self.program, self.run_options, crew, self.progress, self.observer
                )
                return search.run(), search.stops, (*search.notes, crew.described)
        except LostWorkerError as lost:  # before the search has begun
            found = Explored()
            found.limit(LOST_WORKER)
            return found, Stops(self.program), (lost.note,)

    def progress(self, found: Explored) -> None:
        self.observer.progress(count_statistics(found))
        if resident_bytes() - self.bytes_before > self.limit_bytes:
            raise Exceeded("memory")

    def check_again(self, found: Explored) -> str:
        """The search once more, every step asked of the interpreter, no view remembered."""
        again = self.explore(PlainIRExecution(self.program))
        if CUT_SHORT.intersection(again.limits):
            return UNFINISHED
        if summarize(again) != summarize(found):
            raise InternalError(
                f"self-check: {found.executions:,} executions and {found.steps:,}"
                f" transitions, but {again.executions:,} and {again.steps:,} where no view"
                " is remembered"
            )
        return f"self-check: the interpreter's search of {found.executions:,} executions agrees"


def summarize(found: Explored) -> tuple[object, ...]:
    """All that a second search has to agree with."""
    counts = found.executions, found.abandoned, found.steps, found.depth
    return counts, found.failures, found.limits


def count_statistics(found: Explored) -> Statistics:
    """Of each trace one execution at most is completed, so the traces need no count of their own
    (Godefroid, LNCS 1032, Theorem 5.5: a sleeping move cannot begin an execution that is new)."""
    return Statistics(
        transitions=found.steps,
        depth=found.depth,
        seconds=found.seconds,
        executions=found.executions,
        partial_orders=found.executions,
    )


def find_violation(found: Explored) -> Violation | None:
    first = next((one for one in found.failures if one.failed.kind != BOUND), None)
    if first is None:
        return None
    path = tuple(Move(thread_of(move), choice_of(move)) for move in first.schedule)
    return Violation(first.failed.kind, path)
