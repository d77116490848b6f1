"""Processes below a command, and how long they have computed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from tests.limits import wait_until


def allow_interrupts() -> None:
    """A shell lets what runs in the background ignore interrupts, and children inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def processes_below(parent: int) -> list[int]:
    """The children of a process, and theirs."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return [*found, *(each for child in found for each in processes_below(child))]


def ticks_of(process: int) -> int:
    """The processor time of a process so far."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{process}/stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[11:13]))
    return 0


SEARCHES = """
import os
from mazurka.report import observer
from mazurka.search import Silent
from mazurka.stateless.search import Search

class Telling(Silent):
    def progress(self, statistics):
        os.write(2, b"searching ")

def run_once(search):
    really_run_once(search)
    if search.explored.executions:
        os.write(2, b"searching ")

observer.observer_for = Telling
really_run_once, Search.run_once = Search.run_once, run_once
from mazurka.__main__ import main
main()
"""
"""The command, for `python -c`; it says on stderr when it searches."""


def wait_until_told(run: subprocess.Popen[str], file: Path, words: str) -> None:
    """Wait until a process has written some words to a file, or has ended."""
    wait_until(lambda: run.poll() is not None or words in file.read_text(), words)


def wait_until_busy(run: subprocess.Popen[str], process: int | None = None) -> None:
    """Wait until a process, or those that it has started, have computed for a second: it has
    started by then, and searches."""

    def has_computed() -> bool:
        asked = [process] if process else [run.pid, *processes_below(run.pid)]
        return sum(map(ticks_of, asked)) >= os.sysconf("SC_CLK_TCK")

    wait_until(lambda: run.poll() is not None or has_computed(), "a search")
