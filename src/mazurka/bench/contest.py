"""Runs tools on programs, each pair in a process of its own that is ended when its time is over."""

from __future__ import annotations

import importlib.metadata
import json
import os
import signal
import tempfile
from pathlib import Path

from mazurka.bench.contestant import MARK, is_installed
from mazurka.bench.figures import Figures
from mazurka.bench.programs import copy_program
from mazurka.processes import PIPE, Process, TimeoutExpired, python, start

MAZURKA = "mazurka"
PEERS = ("frontrun", "interleave-test")
STARTING = 10.0
"""Seconds that a process has for everything but the exploration."""


def find_peers() -> dict[str, str | None]:
    """The version of each peer; None of those that are not installed."""
    return {peer: _version(peer) if is_installed(peer) else None for peer in PEERS}


def _version(peer: str) -> str:
    try:
        return importlib.metadata.version(peer)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def play(tool: str, program: Path, seconds: float) -> Figures:
    """Run a tool on a copy of a program, in a directory of its own, as a user's file would be."""
    with tempfile.TemporaryDirectory() as directory:
        return _ask(command_for(tool, str(copy_program(program, directory))), directory, seconds)


def command_for(tool: str, file: str) -> list[str]:
    """Return the command that plays a tool: a process that runs tests."""
    command = python("mazurka.bench.contestant:main", tool, file, tests=True)
    if tool == "frontrun":
        return python("mazurka.bench.contestant:run_frontrun", *command, tests=True)
    return command


def _ask(command: list[str], directory: str, seconds: float) -> Figures:
    process = start(
        command, directory=directory, stdout=PIPE, stderr=PIPE, text=True, own_session=True
    )
    too_late = Figures(error=f"no answer within {seconds:g} s", seconds=seconds)
    try:
        printed, complaints = process.communicate(timeout=seconds + STARTING)
    except TimeoutExpired:
        return too_late
    finally:
        _end(process)
    answers = [line for line in printed.splitlines() if line.startswith(MARK)]
    if not answers:
        last = complaints.strip().rpartition("\n")[2]
        error = f"the process ended with status {process.returncode}: {last}"
        return Figures(error=error, seconds=0.0)
    answer = Figures(**json.loads(answers[-1].removeprefix(MARK)))
    return too_late if (answer.seconds or 0.0) > seconds else answer


def _end(process: Process) -> None:
    """End a process that still runs, with all that it has started."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
