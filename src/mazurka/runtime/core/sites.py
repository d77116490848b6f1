"""Where in the source accesses are, a number for each, and where a thread stands in it."""

from __future__ import annotations

import linecache
import os
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, TypeAlias, overload

PREFIX: Final = "_mazurka_"
"""How the names begin that rewritten code has beside its own."""
MARK: Final = f"{PREFIX}access"
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


Place: TypeAlias = tuple[int, int, int, int, str]
"""A site without its file: line, column, end of line and column, role."""


class Sites(Sequence[AccessSite]):
    """All places of this process, by number.

    A file brings thousands, of which few are ever looked at; those are made when that happens.
    """

    def __init__(self) -> None:
        self._places: list[AccessSite | Place] = []
        self._files: list[tuple[int, str]] = []
        """The numbers at which the places of files begin, and the files."""

    def append(self, site: AccessSite) -> None:
        self._places.append(site)

    def add_file(self, file: str, places: Sequence[Place]) -> int:
        """Add the places of a file; return the number of the first."""
        first = len(self._places)
        self._files.append((first, file))
        self._places.extend(places)
        return first

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> AccessSite: ...

    @overload
    def __getitem__(self, number: slice) -> list[AccessSite]: ...

    def __getitem__(self, number: int | slice) -> AccessSite | list[AccessSite]:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self._places))[number]]
        found = self._places[number]
        if isinstance(found, tuple):
            at = range(len(self._places))[number]
            _, file = self._files[bisect_right(self._files, at, key=itemgetter(0)) - 1]
            found = self._places[number] = AccessSite(file, *found)
        return found


sites: Final = Sites()


def is_rewritten(code: CodeType) -> bool:
    """Whether the instructions of a code object have been rewritten: the mark is a constant."""
    return code.co_consts[-1:] == (MARK,)


def is_observed(code: CodeType) -> bool:
    """Whether code reports its accesses: its source or its instructions have been rewritten."""
    return MARK in code.co_names or is_rewritten(code)


def number_of(site: AccessSite) -> int:
    """Give a place its number."""
    sites.append(site)
    return len(sites) - 1


MAZURKA_FOLDER: Final = str(Path(__file__).parents[2])
"""Where the package `mazurka` lies: the one place from which paths of its code are made."""
RUNTIME_FOLDER: Final = os.path.join(MAZURKA_FOLDER, "runtime", "")
"""Where the code lies that runs in threads of the program."""
_LIBRARY = Path(linecache.__file__).parent
_EXECUTORS = str(_LIBRARY / "concurrent") + os.sep
_PLUMBING = (
    RUNTIME_FOLDER,
    str(_LIBRARY / "threading.py"),
    str(_LIBRARY / "queue.py"),
    str(_LIBRARY / "contextlib.py"),
    *(str(_LIBRARY / "multiprocessing" / name) for name in ("synchronize.py", "context.py")),
    _EXECUTORS,
)
"""Code between the user's and the operation; people want to see the line that calls it."""


class SourceLine(NamedTuple):
    """A line of source, and the function it is in."""

    file: str
    line: int
    function: str
    source: str


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code; failing that, of any code but ours."""
    foreign = None
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PLUMBING):
            return frame
        if foreign is None and not name.startswith(RUNTIME_FOLDER):
            foreign = frame
        frame = _caller_of(frame)
    return foreign


_AFTER_RETURN = "go_on_after_return"


def _caller_of(frame: FrameType) -> FrameType | None:
    """Return the frame that has called one; not a frame that is over (`python.reentry`)."""
    if frame.f_code.co_name == _AFTER_RETURN and is_own_file(frame.f_code.co_filename):
        profile: Any = frame.f_back
        frame = profile.f_back
    return frame.f_back


def in_executor(frame: FrameType | None) -> bool:
    """Whether the code that called ours is the machinery of `concurrent.futures`."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_EXECUTORS):
            return True
        if not name.startswith(_PLUMBING):
            return False
        frame = frame.f_back
    return False


_RECKONING = (*_PLUMBING, str(_LIBRARY / "logging") + os.sep)


def reckons(frame: FrameType | None) -> bool:
    """Whether the code that called ours is the library's, which works out how long to wait, or puts
    a date on a record; not that it runs a function for somebody."""
    while frame is not None and frame.f_code.co_filename.startswith(RUNTIME_FOLDER):
        frame = frame.f_back
    return (
        frame is not None
        and frame.f_code.co_filename.startswith(_RECKONING)
        and frame.f_code.co_name != "run"
    )


def is_own_file(name: str) -> bool:
    return name.startswith(RUNTIME_FOLDER)


def is_plumbing(site: SourceLine) -> bool:
    return is_plumbing_file(site.file)


def is_plumbing_file(name: str) -> bool:
    return name.startswith(_PLUMBING)


def site_of(frame: FrameType | None) -> SourceLine | None:
    frame = user_frame(frame)
    if frame is None:
        return None
    name, line = frame.f_code.co_filename, frame.f_lineno or 0
    source = linecache.getline(name, line, frame.f_globals).strip()
    return SourceLine(name, line, frame.f_code.co_qualname, source)


def user_frames(ident: int, running: FrameType | None = None) -> list[FrameType]:
    """Return the frames of a thread that are the user's, the innermost first."""
    frame = running if running is not None else sys._current_frames().get(ident)
    found = []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PLUMBING):
            found.append(frame)
        frame = _caller_of(frame)
    return found


def shown_path(file: str) -> str:
    """Return a file as people name it: from the present directory, where it lies below."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file
