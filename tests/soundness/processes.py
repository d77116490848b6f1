"""Work for many numbers in several processes, which can be ended at any moment.

A `multiprocessing.Pool` cannot: its processes share a queue and its locks, so when one of them is
killed while it holds a lock, ending the pool waits for ever; and work whose process has died is
waited for, too.  Here each process has a pipe of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Generic, TypeVar

from mazurka.symbolic.solving.process import end_with_parent

Answer = TypeVar("Answer")
Work = Callable[[int], Iterable[Answer]]


@dataclass(frozen=True)
class Lost:
    """A process has died, or its work has raised an exception, so answers are missing."""

    number: int
    status: int | None

    def __str__(self) -> str:
        return f"number {self.number} is lost: its process ended with status {self.status}"


class Done:
    """All answers about a number have been sent."""


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    number: int

    def send(self) -> None:
        with suppress(OSError):  # it has died: the end of the pipe is met next
            self.pipe.send(self.number)

    def kill(self) -> None:
        """Kill the process with all that it has started."""
        if self.process.pid is not None and self.process.is_alive():
            with suppress(ProcessLookupError):  # it has not called `setsid` yet
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()


def serve(work: Work[Answer], pipe: Connection) -> None:
    """Answer numbers until the pipe is closed; signals for the first process are not for this."""
    os.setsid()
    end_with_parent()
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        for answer in work(number):
            pipe.send(answer)
        pipe.send(Done())


class WorkingProcesses(Generic[Answer]):
    """Processes that all do the same work; leaving the context kills those that still run."""

    def __init__(self, work: Work[Answer], jobs: int) -> None:
        self.work = work
        self.jobs = jobs
        self.workers: list[_Worker] = []

    def __enter__(self) -> WorkingProcesses[Answer]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.process.join()
        self.workers.clear()

    def answers(self, numbers: Iterable[int], pause: float) -> Iterator[Answer | Lost | None]:
        """Iterate over all answers as they come; None where there is none for `pause` seconds."""
        rest = iter(numbers)
        for _ in range(self.jobs):
            self.start(rest)
        while self.workers:
            ready = wait([worker.pipe for worker in self.workers], pause)
            if not ready:
                yield None
            for worker in [each for each in self.workers if each.pipe in ready]:
                try:
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    yield self.give_up(worker)
                    self.start(rest)
                    continue
                if not isinstance(answer, Done):
                    yield answer
                elif not self.give(worker, rest):
                    self.give_up(worker)

    def start(self, rest: Iterator[int]) -> None:
        """Start a process, if there is something left to do."""
        number = next(rest, None)
        if number is None:
            return
        context = multiprocessing.get_context("spawn")
        pipe, other = context.Pipe()
        process = context.Process(target=serve, args=(self.work, other), daemon=True)
        process.start()
        other.close()  # or the end of the process would not be seen
        self.workers.append(_Worker(process, pipe, number))
        self.workers[-1].send()

    def give(self, worker: _Worker, rest: Iterator[int]) -> bool:
        """Give a process the next number; false if there is none."""
        number = next(rest, None)
        if number is None:
            return False
        worker.number = number
        worker.send()
        return True

    def give_up(self, worker: _Worker) -> Lost:
        """Let go of a process that has ended, or has nothing left to do."""
        worker.pipe.close()
        worker.process.join()
        self.workers.remove(worker)
        return Lost(worker.number, worker.process.exitcode)
