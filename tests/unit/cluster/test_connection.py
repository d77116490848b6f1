"""Connections that are given up while a cluster is being started, and clusters that never come."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.unit.ir.programs import crossed_locks

from mazurka.cluster import line
from mazurka.cluster.connection import STARTING, Connection, HiredCrew
from mazurka.cluster.crew import LOCAL, ClusterError, LostWorkerError
from mazurka.deadline import TimeLimitError, time_limit
from mazurka.processes import HOME
from mazurka.search import LOST_WORKER, SearchOptions, Silent
from mazurka.stateful.strategies.full import STRATEGY

BEGINNING = f"""\
import sys
sys.path.insert(0, {str(HOME)!r})
import os, subprocess, time
from mazurka.cluster import driver
driver.leave_cluster = lambda: None
"""
STUCK = """
def start_cluster(room, folder):
    with open(os.path.join(folder, "begun"), "w") as file:
        file.write("")
    endless = (sys.executable, "-c", "import time; time.sleep(600)")
    child = subprocess.Popen(endless, start_new_session=True)
    with open(os.environ["STARTED"], "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    time.sleep(600)
"""
DYING = """
def start_cluster(room, folder):
    os._exit(11)
"""
LOSING = """
def start_cluster(room, folder):
    return 2
class Crew:
    def find_machines(self):
        raise driver.LostWorkerError("gone")
    def dismiss(self):
        pass
driver.RayCrew = lambda size: Crew()
"""


def replace_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Have the driver start something else than Ray."""
    end = "driver.start_cluster = start_cluster\ndriver.main()\n"
    command = [sys.executable, "-P", "-c", f"{BEGINNING}{text}{end}"]
    monkeypatch.setattr(line, "driver_command", lambda: command)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Starting a cluster takes for ever; the file gets the processes that are at it."""
    path = tmp_path / "started"
    monkeypatch.setenv("STARTED", str(path))
    replace_start(monkeypatch, STUCK)
    return path


def require_ended(path: Path) -> None:
    processes = [int(each) for each in path.read_text().split()]
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


class WhenStarted(Silent):
    """Interrupts this process when the start of a cluster has come so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[str] = []

    def message(self, text: str) -> None:
        self.told.append(text)
        threading.Thread(target=self.interrupt).start()

    def interrupt(self) -> None:
        while not (self.path.exists() and self.path.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_while_it_starts_leaves_nothing_behind(started: Path) -> None:
    observer = WhenStarted(started)
    with pytest.raises(KeyboardInterrupt):
        Connection(LOCAL, 2, observer)
    assert observer.told == [STARTING]
    require_ended(started)
    assert Connection.kept is None


def test_a_time_limit_while_it_starts_leaves_nothing_behind(started: Path) -> None:
    with pytest.raises(TimeLimitError, match=STARTING), time_limit(1.0):
        Connection(LOCAL, 2, Silent())
    if started.exists():
        require_ended(started)
    assert Connection.kept is None


def test_a_driver_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_start(monkeypatch, DYING)
    with pytest.raises(ClusterError, match="Ray has ended unexpectedly"):
        Connection(LOCAL, 2, Silent())


def test_workers_that_are_lost_at_once_leave_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_start(monkeypatch, LOSING)
    options = SearchOptions(tuning={"cluster": LOCAL, "workers": 2})
    result = STRATEGY.run(crossed_locks(), options, Silent())
    assert (result.limits, result.violation) == ((LOST_WORKER,), None)
    assert result.notes == ("a worker was lost: gone",)


def test_an_open_connection_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_start(monkeypatch, LOSING)
    with Connection(LOCAL, 2, Silent()) as first:
        with Connection(LOCAL, 1, Silent()) as second:
            assert second.line is first.line
        assert not first.line.lost
        with pytest.raises(LostWorkerError):
            HiredCrew(first, 2, int, lambda post: (), Silent())


def test_without_ray_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match="needs Ray"):
        Connection(LOCAL, 1, Silent())
