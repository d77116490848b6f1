"""The errors that Mazurka reports to its users: one line, with file and line where there is one."""

from __future__ import annotations


class MazurkaError(Exception):
    """Something the user can put right: a file, an option, a construct that is not supported."""

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


class UnsupportedError(MazurkaError):
    """A construct outside the supported language; the message says what to use instead."""


class OptionError(MazurkaError):
    """An option or argument that makes no sense; the message lists what would."""


class InternalError(MazurkaError):
    """Two parts of Mazurka contradict each other: a bug in it, never a verdict."""
