"""One exploration by several processes: `workers=`, or `--workers` on the command line.

1. *Scouting.*  One process, this one, searches for a moment as if it were alone.  Small tests end
   here, and so do most that fail.  What it learns about shared places are the first lessons.
2. *Searching.*  The workers are forked from this process, which by then controls nothing any more.
   Level by level they search together (`search`).  A lesson of one of them ends all;
   they are started anew with what is known then.
3. *Telling.*  A failure is run again, simplified and recorded in this process.

The verdict, the partial orders of each level and the fewest preemptions of a failure are those of
a single process.  Which of several failures of the same level is told may differ: among those that
were found when the search stopped it is the one with the smallest schedule.

Whatever happens, no process is left behind: the crew is a context, and leaving it ends them all.  A
process that dies without a word ends the exploration with an error.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from mazurka.errors import MazurkaError
from mazurka.interrupts import interrupts_come_later
from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError
from mazurka.runtime.exploring.workers.lessons import Common, UnshareableError
from mazurka.runtime.exploring.workers.process import LEVEL, SEARCH, WorkerReport, WorkerTask, serve
from mazurka.runtime.exploring.workers.shared_out import SharedOut
from mazurka.runtime.exploring.workers.table import CLOSED, EXECUTIONS, SharedTable
from mazurka.stateless import iterative
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.explored import Explored, Failing, Level, run_limit
from mazurka.stateless.runs import OutOfTime, Runnable

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext

LOOK_EVERY = 0.1
THREADS_END = 1.0
"""Seconds to wait for threads of ours that are about to end."""
_stay: set[int] = set()
"""Threads that have been waited for in vain: an exploration before has lost them."""


class DeadWorkerError(MazurkaError):
    """A worker process has ended without a report."""


def require_forkable() -> None:
    """Refuse to fork where that cannot work; a forked process has the calling thread only."""
    if multiprocessing.current_process().daemon:
        raise UnshareableError("this process may not start others")
    _wait_for_carriers()
    others = [each.name for each in threading.enumerate() if each.ident != threading.get_ident()]
    if others:
        warnings.warn(
            f"other threads run in this process ({', '.join(others)}); workers are forked from it"
            " without them, and a lock that one of them holds stays locked there",
            RuntimeWarning,
            stacklevel=2,
        )


def _wait_for_carriers() -> None:
    """Wait for the threads that ran the program, which are about to end."""
    until = time.monotonic() + THREADS_END
    while True:
        known = {thread.ident for thread in threading.enumerate()}
        ending = sys._current_frames().keys() - known
        _stay.intersection_update(ending)
        if ending <= _stay or time.monotonic() > until:
            _stay.update(ending)
            return
        time.sleep(0.001)


def fork_quietly(process: multiprocessing.process.BaseProcess) -> None:
    """Start a process by `os.fork`, without the warning that this process has threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()


class Crew:
    """The worker processes, which all carry out the same orders."""

    def __init__(self, task: WorkerTask, size: int) -> None:
        context = multiprocessing.get_context("fork")
        self._lines: list[Connection] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []
        try:
            for index in range(size):
                # An interrupt that comes while the system forks would be raised in one of the
                # functions that Python calls then, and ignores what they raise.
                with interrupts_come_later():
                    self._start(context, task, index)
        except BaseException:
            self.dismiss()
            raise

    def _start(self, context: ForkContext, task: WorkerTask, index: int) -> None:
        ours, theirs = context.Pipe()
        self._lines.append(ours)
        process = context.Process(
            target=serve,
            args=(task, index, theirs, tuple(self._lines)),
            name=f"mazurka-{index + 1}",
            daemon=True,
        )
        fork_quietly(process)
        self._processes.append(process)
        theirs.close()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        self.dismiss()

    def dismiss(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
            process.close()
        for line in self._lines:
            line.close()
        self._processes, self._lines = [], []

    def order(self, order: str, bound: int | None) -> None:
        for line in self._lines:
            try:
                line.send((order, bound))
            except OSError:
                continue  # it has died, and `reports` will tell

    def reports(self, look_up: Callable[[], None] = lambda: None) -> list[WorkerReport]:
        """Collect a report from each; one that cannot go on, or has news, ends it with its own."""
        found: dict[int, WorkerReport] = {}
        while len(found) < len(self._lines):
            waiting = [line for number, line in enumerate(self._lines) if number not in found]
            for line in wait(waiting, LOOK_EVERY):
                assert isinstance(line, Connection)
                number = self._lines.index(line)
                report = found[number] = self._report(number, line)
                if is_news(report) or is_last(report):
                    return [report]
            look_up()
        return list(found.values())

    def _report(self, number: int, line: Connection) -> WorkerReport:
        try:
            report = line.recv()
        except (EOFError, OSError):
            self._processes[number].join(LOOK_EVERY)
            code = self._processes[number].exitcode
            how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
            raise DeadWorkerError(
                f"worker process {number + 1} has ended unexpectedly, {how}; nothing is known of"
                " the executions that it had taken on"
            ) from None
        assert isinstance(report, WorkerReport)
        return report


def is_news(report: WorkerReport) -> bool:
    """Whether all processes have to begin anew, with what one of them has found."""
    return report.lesson is not None or report.lives_matter


def is_last(report: WorkerReport) -> bool:
    """Whether the process that sends it cannot go on."""
    return bool(report.late or report.unshareable or report.error or report.raised)


SCOUTING = 300
"""Runs that one process does before others are started."""
MOST_STATES = 2_000_000
ROUNDS = 200
"""How often workers are started anew before it is left to one process."""


class ParallelExploration(SharedOut):
    """One exploration of one test by processes that this one forks."""

    is_shared = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.table = SharedTable(MOST_STATES)
        self.silently = True
        """Ends and joins of threads are no steps (`stateless.bounded.lives`)."""
        self.common: Common | None = None

    def run(self) -> None:
        try:
            self.control(self.scout)
            if self.result.limits or self.result.error is not None or self.has_concluded:
                return
            assert self.common is not None
            self.common.require_names()
            require_forkable()
            self.tell(self.search_together())
        finally:
            self.table.close()

    # -- scouting ----------------------------------------------------------------------------

    def scout(self, program: ObservedProgram) -> None:
        """Search alone for a moment, and note the lessons."""
        if self.common is None:
            self.common = Common(program, self.table)
        self.conduct(program)
        self.common.note_files()

    def search(self, program: Runnable) -> Explored:
        limits = self.choose_limits()
        wanted = limits.max_runs
        most = SCOUTING if wanted is None else min(SCOUTING, wanted)
        search = Algorithm2(program, replace(limits, max_runs=most), self.progress)
        search.begin_anew(silently=True)
        try:
            explored = iterative.explore_levels(search, self.options.bound)
        except RelearnError:
            self.lessons.append(tuple(search.schedule))
            raise
        self.silently = search.graph.silently
        own = run_limit(most)
        if most != wanted and own in explored.limits:
            explored.limits = tuple(limit for limit in explored.limits if limit != own)
            self.has_concluded = bool(explored.limits or explored.failures)
        else:
            self.has_concluded = True
        return explored

    # -- searching ---------------------------------------------------------------------------

    def search_together(self) -> Explored:
        """Search with all workers, again and again until nothing is left to be learned."""
        for _ in range(ROUNDS):
            self.table.clear()
            task = WorkerTask(
                test=self.test,
                options=self.options,
                settings=self.choose_settings(),
                limits=replace(self.choose_limits(), max_states=MOST_STATES),
                table=self.table,
                lessons=tuple(self.lessons),
                parent=os.getpid(),
                silently=self.silently,
            )
            with Crew(task, self.options.workers) as crew:
                levels = Levels(self, crew)
                news = levels.search()
            if news is None:
                return levels.explored
            self.silently = self.silently and not news.lives_matter
            if news.lesson is not None:
                self.lessons.append(news.lesson)
        raise UnshareableError("more and more of it turns out to be shared")

    # -- telling -----------------------------------------------------------------------------

    def tell(self, explored: Explored) -> None:
        result, workers = self.result, self.options.workers
        self.conclude(explored, sorted(self.not_observed), sorted(self.unobserved_code))
        result.scope = result.scope.replace("each run once", f"run by {workers} workers")
        self.explain_together(explored, lambda program: Common(program, self.table))


class Levels:
    """The levels of a search, one after the other, with one crew."""

    def __init__(self, whole: ParallelExploration, crew: Crew) -> None:
        self.whole = whole
        self.table = whole.table
        self.crew = crew
        self.explored = Explored()
        self.begun = time.perf_counter()

    def search(self) -> WorkerReport | None:
        """Search to the end; return a report with news, with which all have to begin anew."""
        first = self.crew.reports()
        self.require(first)
        if len({report.fingerprint for report in first}) > 1:
            raise UnshareableError("it does not teach all processes the same")
        if not all(report.taught for report in first):
            raise UnshareableError("what it has shown once it does not show again")
        most = self.whole.options.bound
        bounds: Sequence[int | None] = (None,) if most is None else range(most + 1)
        for bound in bounds:
            news = self.level(bound)
            if news is not None:
                return news
            level = self.explored.levels[-1]
            if not level.complete or level.exhaustive:
                break
        return None

    def level(self, bound: int | None) -> WorkerReport | None:
        """Search with one bound; return a report if it has news."""
        level = Level(bound=bound)
        self.explored.levels.append(level)
        begun = time.perf_counter()
        self.table.begin_level()
        self.crew.order(LEVEL, bound)
        self.require(self.crew.reports())
        self.crew.order(SEARCH, bound)
        reports = self.crew.reports(self.look_up)
        for report in reports:
            if is_news(report):
                return report
        self.require(reports)
        self.merge(reports)
        level.seconds = time.perf_counter() - begun
        level.executions, level.states = self.explored.executions, self.explored.states
        level.failures = len(self.explored.failures)
        level.complete = not self.explored.failures and not self.explored.limits
        level.exhaustive = level.complete and (bound is None or self.table.unseen == 0)
        return None

    def look_up(self) -> None:
        """Show how far the workers have come."""
        explored = self.explored
        explored.executions = explored.runs = self.table.words[EXECUTIONS]
        explored.seconds = time.perf_counter() - self.begun
        if self.whole.progress is not None:
            self.whole.progress(explored)

    def require(self, reports: Sequence[WorkerReport]) -> None:
        """Raise the error of the first worker that cannot go on."""
        for report in reports:
            if report.late:
                raise OutOfTime
            if report.raised is not None:
                raise report.raised
            if report.error is not None:
                raise report.error
            if report.unshareable:
                raise UnshareableError(report.unshareable)

    def merge(self, reports: Sequence[WorkerReport]) -> None:
        explored = self.explored
        explored.executions = self.table.words[EXECUTIONS]
        explored.states = self.table.words[CLOSED]
        explored.runs = sum(report.runs for report in reports)
        explored.abandoned = sum(report.repeated for report in reports)
        explored.steps = sum(report.steps for report in reports)
        explored.depth = max(report.depth for report in reports)
        explored.skipped = sum((report.skipped for report in reports), Counter[str]())
        explored.left_out |= any(report.left_out for report in reports)
        explored.seconds = time.perf_counter() - self.begun
        for failing in sorted(
            (one for report in reports for one in report.failures), key=rank_failure
        ):
            explored.add(failing)
        for report in reports:
            self.whole.not_observed.update(report.not_observed)
            self.whole.unobserved_code.update(report.unobserved_code)
            for limit in report.limits:
                explored.limit(limit)


def rank_failure(failing: Failing) -> tuple[int, int, tuple[int, ...]]:
    return failing.preemptions, len(failing.schedule), failing.schedule
