"""The standard streams of the command: a failed write is noted and raises no error.

A full disk or a closed pipe would otherwise be an error wherever something is printed, also inside
libraries and when the interpreter flushes at its end, and each place turns it into another exit
status.  Here all output goes through a stream that only notes the first error; the command asks at
its end whether anything was lost.
"""

from __future__ import annotations

import io
import os
import select
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class NotingFile(io.FileIO):
    """A file that notes the first error of writing, and drops what follows."""

    lost: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        size = memoryview(data).nbytes
        while self.lost is None:
            try:
                written = super().write(data)
            except OSError as error:
                self.lost = error
                break
            if written is not None:
                return written
            select.select([], [self.fileno()], [])  # a pipe that does not block, and is full
        return size


class Streams:
    """Standard output and standard error of a command."""

    def __init__(self) -> None:
        for number in (0, 1, 2):
            _occupy(number)
        self.output, sys.stdout = _open(1, sys.stdout, "strict")
        self.errors, sys.stderr = _open(2, sys.stderr, "backslashreplace")

    def settle(self) -> OSError | None:
        """Flush both streams; return the first error of writing, if there was one."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        return self.output.lost or self.errors.lost


def _occupy(number: int) -> None:
    """Keep the number of a closed standard stream from being given to another file.

    Writing to it fails: nothing that was written may seem to have arrived."""
    try:
        os.fstat(number)
    except OSError:
        with suppress(OSError):
            opened = os.open(os.devnull, os.O_RDONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)


def _open(number: int, before: TextIO | None, errors: str) -> tuple[NotingFile, io.TextIOWrapper]:
    """Open a standard stream as Python has opened it."""
    raw = NotingFile(number, "w", closefd=False)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors=getattr(before, "errors", None) or errors,
        line_buffering=number == 2 or raw.isatty(),
        write_through=getattr(before, "write_through", False),
    )
    return raw, text
