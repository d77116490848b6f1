"""One exploration by the workers of a cluster: `mazurka test --cluster`.

1. *Scouting.*  This process searches for a moment as if it were alone.  Small tests end here, and
   so do most that fail.
2. *Searching.*  A worker cuts the tree of runs into branches, and all explore them
   (`stateless.branches`: each partial order once).  Where a run shows that more is shared than was
   known, its schedule is a lesson (`workers.lessons`); all begin anew with what is known then.
3. *Telling.*  When the cluster is left, a failure is run again, simplified and recorded here.

Verdict and number of partial orders are those of one process.  With a failure, they are those of
the branches up to the first that contains one.

Only searches without a bound can be divided so.  Algorithm 2 passes over a state from which, by
whatever prefix, everything has been visited; workers would have to ask each other at every step.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mazurka.cluster.crew import ClusterCrew, LostWorkerError
from mazurka.deadline import TimeLimitError, time_limit
from mazurka.errors import OptionError
from mazurka.runtime.exploring.entry import begin_result, take_turn
from mazurka.runtime.exploring.exploration import Exploration
from mazurka.runtime.exploring.losses import losses
from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError
from mazurka.runtime.exploring.options import ExploreOptions, Test, Usual
from mazurka.runtime.exploring.progress import LastProgress
from mazurka.runtime.exploring.repeated_warnings import show_warnings_once
from mazurka.runtime.exploring.workers.lessons import UnshareableError
from mazurka.runtime.exploring.workers.process import WorkerReport
from mazurka.runtime.exploring.workers.shared_out import SharedOut
from mazurka.runtime.sharing.older_files import older_files
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.cluster.process import BranchAnswer, BranchTask, digest_of
from mazurka.runtime.testing.cluster.thread_numbers import ThreadNumbers
from mazurka.runtime.testing.cluster.worker import BranchExplorer
from mazurka.search import LOST_WORKER, Observer, Silent
from mazurka.stateless.branches import Branch, BranchLeader
from mazurka.stateless.explored import (
    TIME,
    Explored,
    Failing,
    Level,
    Progress,
    RunOptions,
    run_limit,
)
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.runs import OutOfTime, Runnable

DIVIDED = ("source-dpor", "dpor", "sleep-sets")
"""The strategies whose runs can be shared out."""
NOT_NEEDED = "explored by one process, which was done before a cluster was needed"
SCOUTING = 300
"""Runs that this process does before others are asked."""
ROUNDS = 200
"""How often workers begin anew before it is left to one process."""


@dataclass(frozen=True)
class ClusterRequest:
    """Where to explore, and how workers find the test."""

    address: str
    workers: int | None
    target: str
    given: Mapping[str, Any]
    """The options of the command line, without those of the cluster."""

    def choose(self, options: ExploreOptions) -> tuple[ClusterRequest, ExploreOptions]:
        """Choose a strategy whose runs can be shared out, where nobody has chosen one."""
        if not self.leaves_open(options):
            return self, options
        given = {**self.given, "strategy": DIVIDED[0]}
        return replace(self, given=given), replace(options, strategy=DIVIDED[0])

    def leaves_open(self, options: ExploreOptions) -> bool:
        """Whether nobody has chosen a strategy, or what only the usual one has."""
        return (
            "strategy" not in self.given
            and options.strategy == ExploreOptions.strategy
            and isinstance(options.preemptions, Usual | None)
            and options.timeouts == ExploreOptions.timeouts
        )

    def refuse(self, options: ExploreOptions) -> None:
        if options.strategy not in DIVIDED:
            or_else = "or leave --cluster out (--workers N uses the processors of this machine)"
            if "strategy" not in self.given and options.strategy == ExploreOptions.strategy:
                bound = isinstance(options.preemptions, int)
                what = f"--preemptions {options.preemptions}" if bound else "--timeouts last-resort"
                raise OptionError(
                    f"--cluster runs all executions, and {what} leaves some out: leave that out,"
                    f" {or_else}"
                )
            raise OptionError(
                f"--cluster cannot share out the runs of --strategy {options.strategy}: choose"
                f" {', '.join(DIVIDED[:-1])} or {DIVIDED[-1]}, {or_else}"
            )
        if options.executions is not None:
            raise OptionError("--cluster takes no --executions; limit the time with --seconds")


def explore_on_cluster(
    request: ClusterRequest,
    test: Test,
    options: ExploreOptions,
    progress: Progress | None = None,
    since: float | None = None,
) -> Result:
    """Explore a test, by one process where a cluster cannot (`exploring.entry.explore_test`)."""
    request, options = request.choose(options)
    result = begin_result(test, options)
    started = time.perf_counter() if since is None else since
    with take_turn(), show_warnings_once(), losses.of_one_exploration():
        if not ClusterExploration(request, test, options, result, progress, started).has_run():
            Exploration(test, options, result, progress, started).run()
    return result


class NewsError(Exception):
    """A worker has learned something, and all have to begin anew."""


class TestBranches(BranchLeader[BranchAnswer]):
    """The search over the schedules of a test."""

    __test__ = False

    def __init__(
        self,
        options: RunOptions,
        crew: ClusterCrew,
        progress: Progress,
        look_at: Callable[[BranchAnswer], BranchAnswer],
        observer: Observer,
    ) -> None:
        """`look_at` takes an answer over, or raises why there can be none."""
        super().__init__(options, crew, progress, observer)
        self.look_at = look_at

    def find_branches(self, wanted: int) -> list[Branch]:
        (answer,) = self.crew.get(self.crew.ask(0, "cut", wanted))
        return list(self.look_at(answer).branches)

    def accept(self, answer: BranchAnswer) -> BranchAnswer:
        return self.look_at(answer)


class ClusterExploration(SharedOut):
    """One exploration of one test by the workers of a cluster; fills in a result."""

    def __init__(
        self,
        request: ClusterRequest,
        test: Test,
        options: ExploreOptions,
        result: Result,
        progress: Progress | None = None,
        started: float | None = None,
    ) -> None:
        request.refuse(options)
        super().__init__(test, options, result, progress, started)
        self.allowance = None
        self.request = request
        self.numbers = ThreadNumbers()
        self.changes_files = False
        self.described = ""
        self.scouted = Explored()
        """What this process has seen alone."""

    def run(self) -> None:
        self.control(self.scout)
        if self.result.limits or self.result.error is not None or self.has_concluded:
            if self.has_concluded and not self.result.limits:
                self.result.notes += (NOT_NEEDED,)
            return
        if self.changes_files:
            raise UnshareableError("it changes files")
        explored = Explored()
        try:
            with (
                time_limit(self.options.limit_seconds, since=self.started),
                self.open_crew() as crew,
            ):
                explored = self.search_together(crew)
        except TimeLimitError as late:  # these come before the workers have begun
            explored.limit(TIME)
            self.result.notes += (late.message,)
        except OutOfTime:
            explored.limit(TIME)
        except LostWorkerError as lost:
            explored.limit(LOST_WORKER)
            self.result.notes += (lost.note,)
        self.tell(self.choose_told(explored))

    def choose_told(self, explored: Explored) -> Explored:
        """What is told of a search that was cut short: what this process has seen alone, if that is
        more than what is known of the workers' branches."""
        seen = explored.executions >= self.scouted.executions
        if not explored.limits or explored.failures or seen:
            return explored
        for limit in explored.limits:
            self.scouted.limit(limit)
        return self.scouted

    @contextmanager
    def open_crew(self) -> Iterator[ClusterCrew]:
        """Reach the cluster, which is left before the test is run here again."""
        from mazurka.cluster.connection import Connection, HiredCrew

        request, observer = self.request, self.observer
        with (
            Connection(request.address, request.workers, observer) as connection,
            HiredCrew(
                connection, request.workers, BranchExplorer, lambda post: (), observer
            ) as crew,
        ):
            self.described = crew.described
            yield crew

    @property
    def observer(self) -> Observer:
        """Who is told what is being done."""
        return self.progress.observer if isinstance(self.progress, LastProgress) else Silent()

    # -- scouting ----------------------------------------------------------------------------

    def scout(self, program: ObservedProgram) -> None:
        """Search alone for a moment, and note the lessons."""
        self.numbers.give(program)
        self.conduct(program)
        self.changes_files = older_files.are_changed

    def search(self, program: Runnable) -> Explored:
        limits = replace(self.choose_limits(), max_runs=SCOUTING)
        search = REDUCTIONS[self.options.strategy](program, limits, self.progress)
        try:
            search.explore(None)
        except RelearnError:
            self.lessons.append(tuple(search.schedule))
            raise
        explored, own = search.explored, run_limit(SCOUTING)
        if own in explored.limits:
            explored.limits = tuple(limit for limit in explored.limits if limit != own)
            self.has_concluded = bool(explored.limits or explored.failures)
        else:
            self.has_concluded = True
        self.scouted = explored
        return explored

    # -- searching ---------------------------------------------------------------------------

    def search_together(self, crew: ClusterCrew) -> Explored:
        """Search with all workers, again and again until nothing is left to be learned."""
        begun = time.perf_counter()
        for _ in range(ROUNDS):
            try:
                self.teach(crew)
                asked = self.choose_limits()
                leader = TestBranches(asked, crew, self.show, self.look_at, self.observer)
                explored = leader.run()
            except NewsError:
                continue
            self.result.notes += leader.notes
            explored.seconds = time.perf_counter() - begun
            failures, limits = explored.failures, explored.limits
            level = Level(bound=None, executions=explored.executions, failures=len(failures))
            level.complete = level.exhaustive = not failures and not limits
            explored.levels.append(level)
            return explored
        raise UnshareableError("more and more of it turns out to be shared")

    def show(self, explored: Explored) -> None:
        if self.progress is not None:
            self.progress(explored)

    def teach(self, crew: ClusterCrew) -> None:
        """Have all workers learn what is known."""
        task = BranchTask(
            target=self.request.target,
            name=self.test.name,
            digest=digest_of(self.request.target.partition("::")[0]),
            directory=os.getcwd(),
            python_path=os.environ.get("PYTHONPATH"),
            given=dict(self.request.given),
            lessons=tuple(self.lessons),
            paths=self.numbers.paths,
            limit_seconds=self.choose_limits().limit_seconds,
        )
        workers = range(crew.size)
        answers = crew.get([crew.ask(worker, "begin", task)[0] for worker in workers])
        reports = [self.look_at(answer).report for answer in answers]
        if len({report.fingerprint for report in reports}) > 1:
            raise UnshareableError("it does not teach all processes the same")
        if not all(report.taught for report in reports):
            raise UnshareableError("what it has shown once it does not show again")

    def look_at(self, answer: BranchAnswer) -> BranchAnswer:
        """Take an answer over, with threads called as they are here."""
        report = answer.report
        self.require(report)
        if report.lesson is not None:
            self.lessons.append(self.numbers.translate(report.lesson, answer.paths))
            raise NewsError
        self.not_observed.update(report.not_observed)
        self.unobserved_code.update(report.unobserved_code)
        explored = answer.explored
        explored.failures = [self.translate(each, answer.paths) for each in explored.failures]
        return answer

    def require(self, report: WorkerReport) -> None:
        """Raise why a worker cannot go on."""
        if report.late:
            raise OutOfTime
        if report.raised is not None:
            raise report.raised
        if report.error is not None:
            raise report.error
        if report.unshareable:
            raise UnshareableError(report.unshareable)

    def translate(self, failing: Failing, paths: Sequence[str]) -> Failing:
        schedule, taken = (
            self.numbers.translate(one, paths) for one in (failing.schedule, failing.taken)
        )
        return replace(failing, schedule=schedule, taken=taken)

    # -- telling -----------------------------------------------------------------------------

    def tell(self, explored: Explored) -> None:
        self.conclude(explored, sorted(self.not_observed), sorted(self.unobserved_code))
        self.result.notes += (self.described,) if self.described else ()
        self.explain_together(explored, self.numbers.give)
