"""Where in the source accesses are: a number for each, given when the source is rewritten."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from types import CodeType
from typing import Final

MARK: Final = "_mazurka_access"
"""The name under which observed modules know the events that report their accesses."""
BEGIN_ROUND: Final = "begin_round"
"""What they call there at the beginning of each round of a `while` statement."""
LONGEST = 60


@dataclass(frozen=True, slots=True)
class AccessSite:
    """A place in the source at which data may be touched."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    role: str
    """What is done there: the name of an event (`python.events`)."""

    @property
    def text(self) -> str:
        """The source of the expression, on one line."""
        if self.line != self.end_line:
            first = linecache.getline(self.file, self.line).encode()[self.column :]
            return first.decode(errors="replace").strip()[:LONGEST] + " ..."
        line = linecache.getline(self.file, self.line).encode()
        text = line[self.column : self.end_column].decode(errors="replace")
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


sites: list[AccessSite] = []
"""All places of this process, by number."""


def is_rewritten(code: CodeType) -> bool:
    """Whether the instructions of a code object have been rewritten: the mark is a constant."""
    return code.co_consts[-1:] == (MARK,)


def number_of(site: AccessSite) -> int:
    """Give a place its number."""
    sites.append(site)
    return len(sites) - 1
