"""The line to a driver: who waits can be interrupted at any moment, and goes on in step."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from mazurka.cluster import line
from mazurka.cluster.connection import WorkerAnswer
from mazurka.cluster.crew import LostWorkerError
from mazurka.cluster.line import DriverLine
from mazurka.deadline import TimeLimitError, interruptible, time_limit
from mazurka.errors import OptionError
from mazurka.processes import HOME

DRIVER = f"""\
import sys
sys.path.insert(0, {str(HOME)!r})
import os, time
from mazurka.cluster import driver
from mazurka.errors import OptionError
from mazurka.processes import HOME

class Toy(driver.ClusterDriver):
    def find_running(self):
        return os.getpid()
    def double(self, number, seconds=0.0):
        time.sleep(seconds)
        return 2 * number
    def refuse(self):
        raise OptionError("no")
    def give_lambda(self):
        return lambda: None
    def count_kept(self):
        return len(self._asked)
    def ask(self, first, worker, method, given, answers):
        self._asked.update(enumerate(range(answers), first))
    def end(self):
        os._exit(5)

driver.ClusterDriver = Toy
driver.leave_cluster = lambda: None
driver.main()
"""
"""A driver without Ray."""
PHASE = "trying"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[DriverLine]:
    monkeypatch.setattr(line, "driver_command", lambda: [sys.executable, "-P", "-c", DRIVER])
    made = DriverLine()
    yield made
    made.close()
    assert made.process.returncode is not None
    assert not any(thread.is_alive() for thread in made.threads)


def test_orders_are_answered(toy: DriverLine) -> None:
    assert toy.order(PHASE, "double", 21) == 42
    with pytest.raises(OptionError, match="no"):
        toy.order(PHASE, "refuse")
    with pytest.raises(Exception, match="cannot be sent"):
        toy.order(PHASE, "give_lambda")
    assert toy.order(PHASE, "double", "ab") == "abab"


def test_an_interrupt_does_not_bring_it_out_of_step(toy: DriverLine) -> None:
    toy.order(PHASE, "double", 0)
    alarm = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    alarm.start()
    with pytest.raises(KeyboardInterrupt):
        toy.order(PHASE, "double", 1, 0.5)
    alarm.join()
    assert toy.order(PHASE, "double", 2) == 4


@pytest.mark.parametrize("with_alarm", [False, True])
def test_a_time_limit_ends_the_wait(toy: DriverLine, *, with_alarm: bool) -> None:
    toy.order(PHASE, "double", 0)
    with (
        pytest.raises(TimeLimitError, match=f"reached while {PHASE}"),
        time_limit(0.2),
        interruptible() if with_alarm else nullcontext(),
    ):
        toy.order(PHASE, "double", 1, 600)


def test_a_driver_that_ends_is_noticed(toy: DriverLine) -> None:
    with pytest.raises(LostWorkerError):
        toy.order(PHASE, "end")
    with pytest.raises(LostWorkerError):
        toy.order(PHASE, "double", 1)
    assert toy.lost


def test_a_driver_that_is_stuck_is_ended(toy: DriverLine) -> None:
    driver = toy.order(PHASE, "find_running")
    toy.send("double", 1, 600)
    toy.send("double", bytes(1 << 20))  # more than a pipe holds: writing it waits for the driver
    toy.close()
    with pytest.raises(ProcessLookupError):
        os.kill(driver, 0)
    toy.close()


def test_the_driver_keeps_what_somebody_may_ask_for(toy: DriverLine) -> None:
    handles = [WorkerAnswer(next(toy.numbers), toy.forgotten) for _ in range(3)]
    toy.send("ask", handles[0].number, 0, "method", (), 3)
    assert toy.order(PHASE, "count_kept") == 3
    del handles[1:]
    assert toy.order(PHASE, "count_kept") == 1
    handles.clear()
    assert toy.order(PHASE, "count_kept") == 0


def test_files_lie_in_a_folder_with_a_short_name(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = line.make_folder()
    assert os.path.isdir(folder)
    os.rmdir(folder)
    monkeypatch.setattr(line, "LONGEST_FOLDER", 1)
    assert line.make_folder() == ""
