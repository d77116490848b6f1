"""The processes of an exploration, seen from the one that started them.

Whatever happens, none of them is left behind: the crew is a context, and leaving it ends them all.
A process that dies without a word ends the exploration with an error.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, wait

from mazurka.errors import MazurkaError
from mazurka.runtime.exploring.workers.lessons import UnshareableError
from mazurka.runtime.exploring.workers.process import WorkerReport, WorkerTask, serve

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
    if threading.active_count() > 1:
        warnings.warn(
            "other threads run in this process; workers are forked from it without them, and a lock"
            " that one of them holds stays locked there",
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


class Crew:
    """The worker processes, which all carry out the same orders."""

    def __init__(self, task: WorkerTask, size: int) -> None:
        context = multiprocessing.get_context("fork")
        self._lines: list[Connection] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []
        try:
            for index in range(size):
                ours, theirs = context.Pipe()
                self._lines.append(ours)
                process = context.Process(
                    target=serve,
                    args=(task, index, theirs, tuple(self._lines)),
                    name=f"mazurka-{index + 1}",
                    daemon=True,
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                self._processes.append(process)
                theirs.close()
        except BaseException:
            self.dismiss()
            raise

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
