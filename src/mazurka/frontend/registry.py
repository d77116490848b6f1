"""Find the front end that reads a file, and read source files.

A front end is a module or package in `mazurka.frontend` that defines `FRONTEND`; its name is the
module's name.  Nothing else has to be edited to add one.  The name of a file decides which front
end reads it; where that says nothing, its content does.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka import frontend as package
from mazurka.errors import InternalError, MazurkaError
from mazurka.search import one_of

if TYPE_CHECKING:
    from mazurka.ir.program import Program
    from mazurka.search.reading import Reading

PARTS = frozenset({"kit", "registry"})
"""Modules of `mazurka.frontend` that are no front ends."""
FALLBACK = "python"
"""Reads what cannot be looked at beforehand: a pipe, or a file that is not there."""
MOST_BYTES = 64 << 20
"""How long a source file can be: a device may have no end."""
LOOKED_AT = 100_000
"""How many characters of a file are looked at to recognize its language."""


@dataclass(frozen=True, kw_only=True)
class Frontend:
    """One source language."""

    suffixes: tuple[str, ...]
    """How the names of its files end: `.py`."""
    recognizes: Callable[[str], bool]
    """Whether a text looks like this language; asked where the file's name does not tell."""
    load: Callable[[str, Reading], Program]
    """Read a file.  It raises `OptionError` for options that mean nothing to its language, and
    `MazurkaError` for what it cannot read, with the place in the source."""
    complete: bool = False
    """Its programs are ready to run as they are: nothing is inferred, folded or merged."""


def frontend_names() -> tuple[str, ...]:
    """All languages, without importing any front end."""
    found = {module.name for module in pkgutil.iter_modules(package.__path__)}
    return tuple(sorted(found - PARTS))


def load_frontend(name: str) -> Frontend:
    """Import a front end by its name."""
    one_of("language", name, frontend_names())
    module = importlib.import_module(f"{package.__name__}.{name}")
    found = getattr(module, "FRONTEND", None)
    if not isinstance(found, Frontend):
        raise InternalError(
            f"`{module.__name__}` defines no FRONTEND; helpers of a front end go into a package"
            " with it"
        )
    return found


def choose_language(path: str, given: str | None = None) -> str:
    """The language of a file: the one that is given, or else what its name or content says."""
    if given is not None:
        one_of("language", given, frontend_names())
        return given
    known = {name: load_frontend(name) for name in frontend_names()}
    place = Path(path)
    named = [name for name, each in known.items() if place.suffix in each.suffixes]
    if len(named) == 1:
        return named[0]
    if not place.is_file():
        return FALLBACK
    text = read_beginning(place, LOOKED_AT)
    for name in named or known:
        if known[name].recognizes(text):
            return name
    languages = ", ".join(f"{name} ({' '.join(known[name].suffixes)})" for name in known)
    raise MazurkaError(
        f"neither its name nor its content tells the language; give --language: {languages}",
        file=path,
    )


def read_beginning(path: Path, length: int) -> str:
    """The first characters of a file, whatever it contains."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(length)
    except OSError as error:
        raise MazurkaError.unreadable(str(path), error) from None


def read_source(path: str | Path, expected: str = "a source file") -> str:
    """The text of a source file; `expected` says what to give instead of a directory."""
    file, place = str(path), Path(path)
    if place.is_dir():
        raise MazurkaError(f"this is a directory; give {expected}", file=file)
    try:
        with place.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise MazurkaError.unreadable(file, error) from None
    except ValueError:
        raise MazurkaError("there is no such name of a file", file=repr(file)) from None
    if len(data) > MOST_BYTES:
        raise MazurkaError(f"longer than {MOST_BYTES >> 20} MiB, which is not read", file=file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        from mazurka.ir.program import split_lines

        line = len(split_lines(data[: error.start].decode("utf-8", "replace")))
        raise MazurkaError("not a text file in UTF-8", file=file, line=line) from None
