"""The process on a worker's machine that has the test under control, and explores branches of it.

`cluster.worker` starts it.  Its standard input brings a `BranchTask`, and then orders: to cut the
tree of runs into branches, or to explore one.  Each is answered by one message on what was its
standard output; what the test prints goes nowhere.  The process ends when no orders can come any
more.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

from mazurka.cluster.supervisor import die_with_parent
from mazurka.errors import MazurkaError
from mazurka.report.answer import ERROR
from mazurka.runtime.exploring.exploration import Exploration
from mazurka.runtime.exploring.observed_program import (
    ObservedProgram,
    RelearnError,
    observe_test,
    require_observed,
)
from mazurka.runtime.exploring.options import ExploreOptions, override_options
from mazurka.runtime.exploring.races import RaceChecked
from mazurka.runtime.exploring.workers.lessons import Lesson, fingerprint, take_lessons
from mazurka.runtime.exploring.workers.process import WorkerReport, report_of
from mazurka.runtime.sharing.older_files import older_files
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.cluster.thread_numbers import ThreadNumbers
from mazurka.stateless.branches import Branch, BranchCutter, count_repeated
from mazurka.stateless.explored import Explored
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.runs import Runnable

CUT, EXPLORE = "cut", "explore"


@dataclass(frozen=True, kw_only=True)
class BranchTask:
    """Which test is explored, and what is known of it."""

    target: str
    """What the command was given: `tests/test_bank.py::test_transfer`."""
    name: str
    """The name of the test, one of those that the target names."""
    digest: str
    """Of the file, which must be the same on all machines."""
    directory: str
    python_path: str | None
    given: Mapping[str, Any]
    """The options of the command line."""
    lessons: Sequence[Lesson]
    paths: Sequence[str]
    """Of the threads that are known, by number."""
    limit_seconds: float | None


@dataclass(kw_only=True)
class BranchAnswer:
    """What comes of an order."""

    explored: Explored = field(default_factory=Explored)
    branches: Sequence[Branch] = ()
    report: WorkerReport = field(default_factory=WorkerReport)
    """What was learned, and what keeps the process from going on."""
    paths: Sequence[str] = ()
    """Of the threads by the numbers in this answer."""


def digest_of(path: str) -> str:
    """Hash a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def main() -> None:
    """Carry out the task that comes first, and orders until there are no more."""
    die_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    orders = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    BranchServer(pickle.load(orders), orders, answers).serve()


class BranchServer:
    """Explores branches of one test as it is told to."""

    def __init__(self, task: BranchTask, orders: IO[bytes], answers: IO[bytes]) -> None:
        self.task = task
        self.orders = orders
        self.answers = answers
        self.numbers = ThreadNumbers(task.paths)
        self.parent = os.getppid()

    def serve(self) -> None:
        settings = None
        try:
            found = self.find_test()
            options = override_options(found.options or ExploreOptions(), dict(self.task.given))
            options = replace(options, seconds=self.task.limit_seconds)
            result = Result(input=found.test.name, verdict=ERROR)
            exploration = Exploration(found.test, options, result, None, time.perf_counter())
            settings = exploration.choose_settings()
            test = found.test
            with (
                found.surroundings(),
                observe_test(test.body, test.function, options.leave_out, settings) as program,
            ):
                require_observed(program, test.function)
                self.carry_out_orders(exploration, program)
        except EOFError:
            return
        except BaseException as error:
            from mazurka.runtime.core.host import ControlSettings

            self.send(BranchAnswer(report=report_of(error, settings or ControlSettings())))

    def find_test(self) -> Any:
        from mazurka.runtime.testing.collecting import collect, split_target

        path, _ = split_target(self.task.target)
        if digest_of(path) != self.task.digest:
            raise MazurkaError(
                "a worker of the cluster does not have this file, or another version of it, in"
                f" {os.getcwd()}: the test must be in the same directory on all machines",
                file=path,
            )
        for found in collect(self.task.target):
            if found.test.name == self.task.name:
                return found
        raise MazurkaError(f"a worker of the cluster does not find {self.task.name}", file=path)

    def carry_out_orders(self, exploration: Exploration, program: ObservedProgram) -> None:
        self.numbers.give(program)
        taught = program.supervise(lambda: take_lessons(program, self.task.lessons))
        self.send(BranchAnswer(report=WorkerReport(taught=taught, fingerprint=fingerprint())))
        checked: Runnable = RaceChecked(program) if exploration.options.races else program
        while True:
            order, given, seconds = pickle.load(self.orders)
            if order == CUT:
                self.cut(program, checked, given)
            else:
                self.explore(exploration, program, checked, given, seconds)

    def cut(self, program: ObservedProgram, checked: Runnable, wanted: int) -> None:
        """Answer with branches."""
        cutter = BranchCutter(checked)
        branches: list[Branch] = []

        def cut() -> None:
            branches.extend(cutter.cut(wanted))

        lesson = self.learn(program, cut, lambda: cutter.schedule)
        self.tell(program, BranchAnswer(branches=branches, report=WorkerReport(lesson=lesson)))

    def explore(
        self,
        exploration: Exploration,
        program: ObservedProgram,
        checked: Runnable,
        branch: Branch,
        seconds: float | None,
    ) -> None:
        """Answer with what was found in a branch."""
        options = exploration.options
        limits = replace(exploration.choose_limits(), limit_seconds=seconds, max_runs=None)
        search = REDUCTIONS[options.strategy](checked, limits, self.watch, branch=branch)
        lesson = self.learn(program, lambda: search.explore(None), lambda: search.schedule)
        search.explored.steps -= count_repeated(branch)
        report = WorkerReport(lesson=lesson)
        self.tell(program, BranchAnswer(explored=search.explored, report=report))

    def learn(
        self,
        program: ObservedProgram,
        search: Callable[[], object],
        schedule: Callable[[], Sequence[int]],
    ) -> Lesson | None:
        """Search; the schedule of the run that has shown that more is shared, if there is one."""
        lesson: Lesson | None = None

        def once() -> None:
            nonlocal lesson
            try:
                search()
            except RelearnError:
                lesson = tuple(schedule())

        program.supervise(once)
        return lesson

    def tell(self, program: ObservedProgram, answer: BranchAnswer) -> None:
        report = answer.report
        report.not_observed = tuple(program.not_observed)
        report.unobserved_code = tuple(program.unobserved_code)
        if older_files.are_changed:
            report.unshareable = "it changes files"
        answer.paths = self.numbers.paths
        self.send(answer)

    def send(self, answer: BranchAnswer) -> None:
        pickle.dump(answer, self.answers)
        self.answers.flush()

    def watch(self, found: Explored) -> None:
        """End with the process that has started this one, in the midst of a branch, too: where the
        system does not see to that."""
        if os.getppid() != self.parent:
            os._exit(1)
