"""Run a program that reads what the user wrote, within limits of time, memory and output.

A preprocessor can be made to write forever, to fill the memory or to wait (`#include "/dev/zero"`,
macros that double each other, a pipe), and the parser's native code cannot be interrupted.  So both
run in processes of their own: the system limits their memory and the size of their files, and they
are killed when the time is up.
"""

from __future__ import annotations

import os
import select
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from mazurka.deadline import bytes_left, check_time, seconds_left
from mazurka.processes import Process, TimeoutExpired, start

LONGEST = 60.0
"""The seconds that a preprocessor may take where no time limit is given: it may wait for a pipe."""
LONGEST_POLL = 1e6
"""Seconds; the system does not wait much longer at a time."""
MOST_BYTES = 512 << 20
MOST_OUTPUT = 64 << 20
"""A longer text is not read."""

_LIMITS = """\
for limit in "-v $1" "-f $2" "-c 0"; do
    (ulimit $limit) 2>/dev/null && ulimit $limit
done
shift 2
exec env -i PATH="$PATH" LC_ALL=C "$@"
"""
"""A script of the shell: limit the memory (in KiB) and the size of files (in blocks of 512 bytes),
and run a command.  Variables of the environment tell compilers to read or write other files
(`CPATH`, `COMPILER_PATH`, `DEPENDENCIES_OUTPUT`), so they are left out."""


@dataclass(frozen=True, slots=True)
class BoundedRun:
    """How a process has ended."""

    status: int
    """As the system says: negative for a signal."""
    printed: bytes
    complaints: str
    late: bool = False
    """Whether it was killed because it took too long."""

    @property
    def too_long(self) -> bool:
        return len(self.printed) >= MOST_OUTPUT

    @property
    def signal(self) -> int:
        """The signal that has ended it, also where a shell says so; 0 if there was none."""
        return -self.status if self.status < 0 else max(self.status - 128, 0)


def run_bounded(
    command: Sequence[str],
    given: bytes = b"",
    *,
    directory: str,
    seconds: float | None = None,
    share: float = 1.0,
    extra: int = 0,
) -> BoundedRun:
    """Run a command in a directory, with `given` as its input; the program is named by an absolute
    path.

    It may take the given seconds, but no more than a share of the time that is left, and
    `MOST_BYTES` of memory, but no more than is left; `extra` is added to that."""
    check_time("reading the program")
    left, memory = seconds_left(), bytes_left()
    times = [each for each in (seconds, None if left is None else left * share) if each is not None]
    room = extra + (MOST_BYTES if memory is None else min(MOST_BYTES, memory))
    if os.name == "posix":
        limits = (str(room >> 10), str(MOST_OUTPUT >> 9))
        command = ["/bin/sh", "-c", _LIMITS, "sh", *limits, *command]
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile() as complaints,
    ):
        source.write(given)
        source.seek(0)
        process = start(
            command,
            directory=directory,
            stdin=source,
            stdout=printed,
            stderr=complaints,
            own_session=True,
        )
        try:
            late = not _wait(process, min(times, default=None))
        finally:
            _end(process)
        printed.seek(0)
        complaints.seek(0)
        words = complaints.read(MOST_OUTPUT >> 10).decode(errors="replace")
        return BoundedRun(process.returncode, printed.read(MOST_OUTPUT), words, late)


def _wait(process: Process, seconds: float | None) -> bool:
    """Return whether a process ends within a time.

    `Popen.wait` with a limit sleeps and looks, which takes 16 ms longer for a small file."""
    if seconds is None or not hasattr(os, "pidfd_open"):
        try:
            process.wait(seconds)
        except TimeoutExpired:
            return False
        return True
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(min(seconds, LONGEST_POLL) * 1000))
    finally:
        os.close(descriptor)


def _end(process: Process) -> None:
    """Kill a process that still runs, and all that it has started."""
    if process.poll() is None:
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
