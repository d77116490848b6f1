"""The line from a command to the driver of a cluster.

Two threads of this process write orders and read answers.  So whoever waits for an answer can be
interrupted at any moment, by Ctrl-C or by the alarm of a time limit, and no order is sent or read
by half: an answer that comes later has a number for which nobody waits.
"""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO, cast

from mazurka.cluster.crew import ClusterError, LostWorkerError
from mazurka.cluster.orders import DriverAnswer, DriverOrder, read
from mazurka.deadline import check_time, undisturbed
from mazurka.interrupts import interrupts_come_later
from mazurka.processes import DEVNULL, PIPE, Process, TimeoutExpired, python, start

SUPERVISOR = "mazurka.cluster.supervisor:main"
PULSE_SECONDS = 0.1
"""How often the clock is looked at while nobody answers."""
FAREWELL_SECONDS = 5.0
"""How long a driver may take to leave a cluster that others have started."""
LONGEST_FOLDER = 40
"""Ray puts sockets below its folder, whose names the system limits to some hundred characters."""


class DriverLine:
    """A driver, and what is sent to it and comes from it."""

    folder: str
    """Where a cluster that is started keeps its files; the supervisor removes it."""
    lifeline: int
    """The end of a pipe; the supervisor ends everything when it is closed."""
    process: Process
    """The supervisor."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """`environment`: variables that the driver has beside those of this process."""
        self.environment = environment or {}
        self.numbers = itertools.count()
        """Of orders that are answered, and of what workers answer."""
        self.forgotten: list[int] = []
        """Numbers of answers of workers that the driver need not keep."""
        self.closed = True
        self.lost = False
        """Whether the driver has ended."""
        self.orders: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[DriverAnswer | None] = queue.SimpleQueue()
        try:
            with interrupts_come_later():
                self.open()
        except BaseException:
            self.close()
            raise

    def open(self) -> None:
        """Start the driver, and the threads that send and read."""
        self.folder = make_folder()
        theirs, self.lifeline = os.pipe()
        try:
            self.process = self.start(theirs)
        except OSError as error:
            os.close(self.lifeline)
            raise ClusterError(f"no process can be started for the cluster: {error}") from None
        finally:
            os.close(theirs)
        self.closed = False
        self.threads = [
            threading.Thread(target=work, daemon=True, name=f"mazurka-cluster-{work.__name__}")
            for work in (self.send_orders, self.read_answers)
        ]
        for thread in self.threads:
            thread.start()

    def start(self, lifeline: int) -> Process:
        """Start the supervisor, which starts the driver.

        Ray has the processes that it starts look for modules in the driver's directory, too: that
        must not be one that a user happens to be in."""
        return start(
            python(SUPERVISOR, str(lifeline), str(os.getpid()), self.folder, *driver_command()),
            environment=self.environment,
            stdin=PIPE,
            stdout=PIPE,
            stderr=None if os.environ.get("MAZURKA_DEBUG") else DEVNULL,
            pass_descriptors=(lifeline,),
            own_session=True,  # Ctrl-C is for us alone
        )

    # --- in threads of their own --------------------------------------------------------------

    def send_orders(self) -> None:
        stream = cast(BinaryIO, self.process.stdin)
        with suppress(OSError, ValueError):
            while (order := self.orders.get()) is not None:
                stream.write(order)
                stream.flush()
        with suppress(OSError):
            stream.close()

    def read_answers(self) -> None:
        stream = cast(BinaryIO, self.process.stdout)
        with suppress(EOFError, ValueError), stream:
            while True:
                self.answers.put(read(stream))
        self.answers.put(None)

    # --- for who asks -------------------------------------------------------------------------

    def send(self, name: str, *given: Any, number: int | None = None) -> None:
        """Have the driver do something, and do not wait."""
        forgotten = tuple(self.forgotten)
        packed = pickle.dumps(DriverOrder(name, given, number, forgotten))
        del self.forgotten[: len(forgotten)]
        self.orders.put(packed)

    def order(self, phase: str, name: str, *given: Any) -> Any:
        """Have the driver do something, and wait for its answer.  `phase` says what is being done,
        for the case that the time limit is reached."""
        number = next(self.numbers)
        self.send(name, *given, number=number)
        while True:
            answer = self.hear(phase)
            if answer.number == number:
                if answer.error is not None:
                    raise answer.error
                return answer.value

    def hear(self, phase: str) -> DriverAnswer:
        """Wait for the next answer, whatever it answers."""
        while not self.lost:
            check_time(phase)
            with suppress(queue.Empty):
                answer = self.answers.get(timeout=PULSE_SECONDS)
                if answer is not None:
                    return answer
                self.lost = True
        raise LostWorkerError("the process that was connected to the cluster has ended")

    def close(self, *, politely: bool = False) -> None:
        """End the driver and whatever it has started; it may take leave first, if need be."""
        if self.closed:
            return
        self.closed = True
        with undisturbed():
            self.orders.put(None)  # the driver leaves the cluster when no orders can come any more
            try:
                if politely:
                    with suppress(TimeoutExpired):
                        self.process.wait(FAREWELL_SECONDS)
            finally:
                os.close(self.lifeline)
            self.process.wait()
            for thread in self.threads:
                thread.join()


def driver_command() -> list[str]:
    return python("mazurka.cluster.driver:main")


def make_folder() -> str:
    """A folder for the files of a cluster; empty where its name would be too long."""
    folder = tempfile.mkdtemp(prefix="mazurka-")
    if len(folder) <= LONGEST_FOLDER:
        return folder
    os.rmdir(folder)
    return ""
