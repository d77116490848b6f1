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
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace

from mazurka.errors import MazurkaError
from mazurka.report.answer import ERROR
from mazurka.runtime.exploring.exploration import Exploration
from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError
from mazurka.runtime.exploring.workers.crew import Crew, is_news, require_forkable
from mazurka.runtime.exploring.workers.lessons import Common, Lesson, UnshareableError, take_lessons
from mazurka.runtime.exploring.workers.process import LEVEL, SEARCH, WorkerReport, WorkerTask
from mazurka.runtime.exploring.workers.table import CLOSED, EXECUTIONS, SharedTable
from mazurka.stateless import iterative
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.explored import (
    Explored,
    Failing,
    Level,
    run_limit,
)
from mazurka.stateless.runs import OutOfTime, Runnable

SCOUTING = 300
"""Runs that one process does before others are started."""
MOST_STATES = 2_000_000
ROUNDS = 200
"""How often workers are started anew before it is left to one process."""


class ParallelExploration(Exploration):
    """One exploration of one test by several processes; fills in a result."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.table = SharedTable(MOST_STATES)
        self.lessons: list[Lesson] = []
        self.silently = True
        """Ends and joins of threads are no steps (`stateless.bounded.lives`)."""
        self.not_observed: set[str] = set()
        self.common: Common | None = None
        self.has_concluded = False
        """Whether scouting has been enough."""

    def has_run(self) -> bool:
        """Explore; False, with a note of the reason, where several processes cannot."""
        try:
            self.run()
        except UnshareableError as why:
            self.result.notes = (*self.result.notes, f"explored by one process: {why}")
            return False
        except OutOfTime:
            self.conclude_late()
        except MazurkaError as error:
            self.result.verdict, self.result.scope, self.result.error = ERROR, "", error
        return True

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

    def is_enough(self, explored: Explored) -> bool:
        return self.has_concluded

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
        self.conclude(explored, sorted(self.not_observed))
        result.scope = result.scope.replace("each run once", f"run by {workers} workers")
        if not explored.failures:
            return

        def explain(program: ObservedProgram) -> None:
            Common(program, self.table)
            take_lessons(program, self.lessons)
            self.explain(explored.failures[0], program, self.check_races(program))

        self.control(explain, timed=False)


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
        explored.seconds = time.perf_counter() - self.begun
        for failing in sorted(
            (one for report in reports for one in report.failures), key=rank_failure
        ):
            explored.add(failing)
        for report in reports:
            self.whole.not_observed.update(report.not_observed)
            for limit in report.limits:
                explored.limit(limit)


def rank_failure(failing: Failing) -> tuple[int, int, tuple[int, ...]]:
    return failing.preemptions, len(failing.schedule), failing.schedule
