"""The errors that Mazurka reports to its users: one line, with the place where there is one."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Protocol, Self


def suggest(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Ask whether a known name was meant, for the end of a message; nothing where none is close."""
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), names, 1, likeness)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def suggest_file(path: str) -> str:
    """Ask whether a file of the same folder was meant that a path does not lead to."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:
        return ""
    shown = (each for each in names if not each.startswith("."))
    return suggest(name, shown, 0.8)  # all names have an ending in common


class Position(Protocol):
    """A position in a source file; lines and columns count from 1, and 0 is unknown."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_column(self) -> int: ...


class MazurkaError(Exception):
    """Something the user can put right: a file, an option, a construct that is not supported."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        end_column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        """Where it begins in the line, counted in characters from 1; None where that is unknown."""
        self.end_column = end_column
        """The column behind its end; None where it is unknown or in another line."""

    @classmethod
    def at(cls, place: Position | None, message: str) -> Self:
        """The error about a place in the source; parts of it may be unknown."""
        if place is None:
            return cls(message)
        return cls(
            message,
            file=place.file or None,
            line=place.line or None,
            column=place.column or None,
            end_column=place.end_column or None,
        )

    @classmethod
    def unreadable(cls, file: str, error: OSError) -> Self:
        """The error about a file that is not there, or that cannot be read."""
        if isinstance(error, FileNotFoundError):
            return cls(f"no such file{suggest_file(file)}", file=file)
        return cls(f"cannot be read: {error.strerror or error}", file=file)

    def __str__(self) -> str:
        parts = (self.file, self.line, self.column if self.line is not None else None)
        place = ":".join(str(part) for part in parts if part is not None)
        return f"{place}: {self.message}" if self.file is not None else self.message


class UnsupportedError(MazurkaError):
    """A construct outside the supported language; the message says what to use instead."""


class OptionError(MazurkaError):
    """An option or argument that makes no sense; the message lists what would."""


MOST_DIGITS = 40
"""Python refuses to convert some thousand digits, and nothing has use for more than these."""


def read_number(text: str) -> int:
    """Return the number that decimal digits mean, or `10**MOST_DIGITS` where there are more."""
    return int(text) if len(text) <= MOST_DIGITS else 10**MOST_DIGITS


class InternalError(MazurkaError):
    """Two parts of Mazurka contradict each other: a bug in it, never a verdict."""


class FrontendError(InternalError):
    """A front end uses the kit wrongly; the place is what it was reading then."""

    @classmethod
    def unless(cls, right: bool, place: Position | None, message: str) -> None:
        """Raise the error unless all is right."""
        if not right:
            raise cls.at(place, message)

    def __str__(self) -> str:
        return f"{super().__str__()} (a mistake of the front end, not of this program)"
