"""Runs tools on programs, each pair in a process of its own that is ended when its time is over."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mazurka.bench.contestant import MARK, UNNAMED, Answer, is_installed
from mazurka.bench.programs import Program

MAZURKA = "mazurka"
PEERS = ("frontrun", "interleave-test")
FOUND, RIGHT, MISSED = "found", "right", "missed"
FALSE_ALARM, OTHER, SILENT = "false alarm", "other failure", "no answer"
STARTING = 10.0
"""Seconds that a process has for everything but the exploration."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What a tool said about a program."""

    program: Program
    tool: str
    answer: Answer

    @property
    def outcome(self) -> str:
        expected, answer = self.program.failure, self.answer
        if answer.error is not None:
            return SILENT
        if expected is None:
            return RIGHT if answer.failure is None else FALSE_ALARM
        if answer.failure is None:
            return MISSED
        return FOUND if answer.failure in (expected, UNNAMED) else OTHER

    @property
    def is_right(self) -> bool:
        return self.outcome in (FOUND, RIGHT)

    def to_json(self) -> dict[str, object]:
        answer = self.answer
        return {
            "program": self.program.name,
            "title": self.program.title,
            "expected": self.program.failure,
            "tool": self.tool,
            "outcome": self.outcome,
            "right": self.is_right,
            "failure": answer.failure,
            "executions": answer.executions,
            "seconds": round(answer.seconds, 6),
            "error": answer.error,
        }


def installed() -> dict[str, str | None]:
    """The version of each peer; None of those that are not installed."""
    return {peer: _version(peer) if is_installed(peer) else None for peer in PEERS}


def _version(peer: str) -> str:
    try:
        return importlib.metadata.version(peer)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def play(tool: str, program: Program, seconds: float) -> Played:
    with tempfile.TemporaryDirectory() as directory:
        file = shutil.copy(program.file, directory)
        answer = _ask(command_for(tool, file), Path(directory), seconds)
    return Played(program=program, tool=tool, answer=answer)


def command_for(tool: str, file: str) -> list[str]:
    command = [sys.executable, "-m", "mazurka.bench.contestant", tool, file]
    if tool == "frontrun":
        return [sys.executable, "-m", "frontrun.cli", *command]
    return command


def _ask(command: list[str], directory: Path, seconds: float) -> Answer:
    with _started(command, directory) as process:
        try:
            printed, complaints = process.communicate(timeout=seconds + STARTING)
        except subprocess.TimeoutExpired:
            return Answer(error=f"no answer within {seconds:g} s", seconds=seconds)
    answers = [line for line in printed.splitlines() if line.startswith(MARK)]
    if not answers:
        last = complaints.strip().rpartition("\n")[2]
        return Answer(error=f"the process ended with status {process.returncode}: {last}")
    answer = Answer(**json.loads(answers[-1].removeprefix(MARK)))
    if answer.seconds > seconds:
        return Answer(error=f"no answer within {seconds:g} s", seconds=seconds)
    return answer


@contextmanager
def _started(command: list[str], directory: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone afterwards, with all that it has started."""
    process = subprocess.Popen(
        command,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            _end(process)
            process.communicate()


def _end(process: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
