"""The process that ends whatever comes of a cluster's driver: nothing stays, whoever ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.limits import ENOUGH, wait_until

from mazurka.cluster.line import SUPERVISOR
from mazurka.cluster.supervisor import has_processes_listed
from mazurka.processes import python

pytestmark = pytest.mark.skipif(
    not has_processes_listed(), reason="the system does not tell who has started whom"
)

DRIVER = """\
import os, subprocess, sys, time
endless = (sys.executable, "-c", "import time; time.sleep(600)")
child = subprocess.Popen(endless)
apart = "start_new_session=True, stdout=subprocess.DEVNULL"
far = f"import subprocess; print(subprocess.Popen({endless!r}, {apart}).pid)"
grandchild = subprocess.check_output((sys.executable, "-c", far)).decode()
with open("processes.tmp", "w") as file:
    file.write(f"{os.getpid()} {child.pid} {grandchild}")
os.rename("processes.tmp", "processes")
time.sleep(600)
"""
"""Starts a process that stays, and another one in a session of its own, whose parent ends."""


@dataclass
class Supervised:
    supervisor: subprocess.Popen[bytes]
    lifeline: int
    folder: Path
    driver: int
    others: list[int]

    def require_end(self) -> None:
        self.supervisor.wait(ENOUGH)
        assert [each for each in (self.driver, *self.others) if is_there(each)] == []
        assert not self.folder.exists()


def is_there(process: int) -> bool:
    """Whether a process has not ended yet."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def await_file(path: Path) -> str:
    wait_until(path.exists, f"{path.name} is not written")
    return path.read_text()


def start(folder: Path, parent: int) -> tuple[subprocess.Popen[bytes], int]:
    theirs, lifeline = os.pipe()
    command = (str(theirs), str(parent), str(folder), sys.executable, "-c", DRIVER)
    process = subprocess.Popen(
        python(SUPERVISOR, *command),
        cwd=folder.parent,
        pass_fds=(theirs,),
        start_new_session=True,
    )
    os.close(theirs)
    return process, lifeline


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    folder = tmp_path / "files"
    folder.mkdir()
    process, lifeline = start(folder, os.getpid())
    driver, *others = map(int, await_file(tmp_path / "processes").split())
    yield Supervised(process, lifeline, folder, driver, others)
    os.close(lifeline)
    process.wait(ENOUGH)


def test_closing_the_lifeline_ends_all(supervised: Supervised) -> None:
    assert all(map(is_there, (supervised.driver, *supervised.others)))
    os.dup2(os.open(os.devnull, os.O_RDONLY), supervised.lifeline)  # closes what was there
    supervised.require_end()


def test_the_end_of_the_driver_ends_all(supervised: Supervised) -> None:
    os.kill(supervised.driver, signal.SIGKILL)
    supervised.require_end()


def test_who_is_not_its_parent_any_more_ends_all(tmp_path: Path) -> None:
    """A lifeline that somebody has inherited does not keep it alive."""
    folder = tmp_path / "files"
    folder.mkdir()
    process, lifeline = start(folder, parent=1)
    process.wait(ENOUGH)
    assert not folder.exists()
    os.close(lifeline)
