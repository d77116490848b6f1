"""What one of several processes does: bring the program under control, and search when told to.

A process answers each order with one message, a `WorkerReport`.  After a report that it cannot go
on, it ends.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from mazurka.cluster.supervisor import die_with_parent
from mazurka.errors import MazurkaError
from mazurka.runtime.core.failures import ControlError
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError, observe_test
from mazurka.runtime.exploring.options import ExploreOptions, Test
from mazurka.runtime.exploring.races import RaceChecked
from mazurka.runtime.exploring.workers.lessons import (
    Common,
    Lesson,
    UnshareableError,
    fingerprint,
    take_lessons,
)
from mazurka.runtime.exploring.workers.search import SharedAlgorithm2
from mazurka.runtime.exploring.workers.table import SharedTable
from mazurka.runtime.program.watchdog import UncontrolledCallError
from mazurka.stateless.bounded.lives import LivesMatter
from mazurka.stateless.explored import Failing, RunOptions
from mazurka.stateless.runs import OutOfTime
from mazurka.system_limits import SystemLimitError, find_limit

LEVEL = "level"
"""The order to begin a level: to mark what has been visited on lower ones."""
SEARCH = "search"


@dataclass(kw_only=True)
class WorkerReport:
    """The answer of a process to an order that it has carried out."""

    fingerprint: str = ""
    """What is known about the program, in short."""
    taught: bool = True
    """Whether the last lesson has shown something new here, too."""
    runs: int = 0
    steps: int = 0
    depth: int = 0
    repeated: int = 0
    """Runs in vain, because others had been faster."""
    failures: list[Failing] = field(default_factory=list)
    limits: tuple[str, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    left_out: bool = False
    not_observed: tuple[str, ...] = ()
    unobserved_code: tuple[str, ...] = ()
    lesson: Lesson | None = None
    lives_matter: bool = False
    """Ends and joins of threads have to be steps (`stateless.bounded.lives`)."""
    late: bool = False
    """There was no time left to come to an end."""
    unshareable: str = ""
    error: MazurkaError | None = None
    raised: BaseException | None = None
    """An exception of the test that is no failure, but ends everything."""


@dataclass(frozen=True, kw_only=True)
class WorkerTask:
    """What a process inherits from the one that forks it."""

    test: Test
    options: ExploreOptions
    settings: ControlSettings
    limits: RunOptions
    table: SharedTable
    lessons: Sequence[Lesson]
    parent: int
    silently: bool
    """Ends and joins of threads are no steps."""


def serve(task: WorkerTask, index: int, orders: Connection, ends: Sequence[Connection]) -> None:
    """Carry out orders until there are no more.

    `ends` are the parent's; as long as they are open here, the end of the parent is not noticed.
    """
    end_with_parent(task.parent)
    for end in ends:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.default_int_handler:
            signal.signal(number, signal.SIG_DFL)
    _keep_apart(index)
    test = task.test
    try:
        with observe_test(
            test.body, test.function, task.options.leave_out, task.settings
        ) as program:
            _serve(task, index, orders, program)
    except EOFError:
        return
    except BaseException as error:
        task.table.stop()
        _send_last(orders, report_of(error, task.settings))


def end_with_parent(parent: int) -> None:
    """See to it that this process ends with the one that started it, whatever it is doing then.

    On Linux the system does that; elsewhere it is looked for after each run."""
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)


def _keep_apart(index: int) -> None:
    """Give each process a processor core of its own, while there are enough."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with suppress(OSError):
            os.sched_setaffinity(0, {cores[index % len(cores)]})


def _serve(task: WorkerTask, index: int, orders: Connection, program: ObservedProgram) -> None:
    common = Common(program, task.table)
    taught = program.supervise(lambda: take_lessons(program, task.lessons))
    orders.send(WorkerReport(taught=taught, fingerprint=fingerprint()))
    runnable = RaceChecked(common) if task.options.races else common
    search = SharedAlgorithm2(
        runnable,
        task.limits,
        task.table,
        index=index,
        parent=task.parent,
        silently=task.silently,
    )
    while True:
        order, bound = orders.recv()
        if order == LEVEL:
            search.bound = bound
            program.supervise(search.prepare)
            orders.send(WorkerReport())
        else:
            orders.send(_search(program, search))


def _search(program: ObservedProgram, search: SharedAlgorithm2) -> WorkerReport:
    lesson: Lesson | None = None
    lives_matter = False

    def explore() -> None:
        nonlocal lesson, lives_matter
        try:
            search.explore(search.bound)
        except RelearnError:
            lesson = tuple(search.schedule)
        except LivesMatter:
            lives_matter = True

    program.supervise(explore)
    explored = search.explored
    if lesson is not None or lives_matter or explored.limits:
        search.table.stop()
    return WorkerReport(
        runs=explored.runs,
        steps=explored.steps,
        depth=explored.depth,
        repeated=explored.abandoned,
        failures=explored.failures,
        limits=explored.limits,
        skipped=explored.skipped,
        left_out=explored.left_out,
        not_observed=tuple(program.not_observed),
        unobserved_code=tuple(program.unobserved_code),
        lesson=lesson,
        lives_matter=lives_matter,
    )


def report_of(error: BaseException, settings: ControlSettings) -> WorkerReport:
    """Make the report on what has ended a process."""
    limit = find_limit(error)
    if limit is not None:
        return WorkerReport(raised=SystemLimitError(limit))
    match error:
        case OutOfTime():
            return WorkerReport(late=True)
        case UnshareableError():
            return WorkerReport(unshareable=str(error))
        case UncontrolledCallError():
            return WorkerReport(error=error.explain())
        case MazurkaError():
            return WorkerReport(error=MazurkaError(error.message, file=error.file, line=error.line))
        case ControlError():
            return WorkerReport(error=MazurkaError(str(error)))
        case _ if isinstance(error, settings.propagate):
            return WorkerReport(raised=error)
    return WorkerReport(error=MazurkaError(f"in a worker process: {type(error).__name__}: {error}"))


def _send_last(orders: Connection, report: WorkerReport) -> None:
    try:
        orders.send(report)
    except OSError:
        return  # nobody is there to read it
    except Exception:
        orders.send(WorkerReport(error=MazurkaError(f"in a worker process: {report.raised!r}")))
