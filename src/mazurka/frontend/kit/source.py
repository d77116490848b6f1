"""Read source files, with an error for every way in which that can go wrong."""

from __future__ import annotations

from pathlib import Path

from mazurka.errors import MazurkaError


def read_source(path: str | Path, expected: str = "a source file") -> str:
    """The text of a source file; `expected` says what to give instead of a directory."""
    file, place = str(path), Path(path)
    if place.is_dir():
        raise MazurkaError(f"this is a directory; give {expected}", file=file)
    try:
        data = place.read_bytes()
    except FileNotFoundError:
        raise MazurkaError("no such file", file=file) from None
    except OSError as error:
        raise MazurkaError(f"cannot be read: {error.strerror or error}", file=file) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise MazurkaError("not a text file in UTF-8", file=file, line=line) from None
