"""Files that Mazurka writes.  A file that somebody else has written is never overwritten.

A model that is given twice by mistake (`mazurka check model.py --trace model.py`) would be lost.
So the only files that are written again are empty ones and those that Mazurka has written, told by
how they begin or end, and never one that is read in the same command.
"""

from __future__ import annotations

import os
from pathlib import Path

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.registry import read_beginning

LOOKED_AT = 400
"""How many characters of a file are looked at to see who has written it."""
LOOKED_AT_THE_END = 8_000
"""The same at its end, where circuits have their comments."""


def require_writable(path: str, option: str, *, mark: str, reads: str | None) -> None:
    """Refuse a file that cannot or must not be written, before a long search and not after it.

    `mark` is in the beginning, or at the end, of all files that the option writes; `reads` is what
    the command reads.
    """
    target = Path(path)
    if target.is_dir():
        raise OptionError(f"{option} needs a file; this is a directory", file=path)
    if not target.parent.is_dir():
        raise OptionError(f"{option}: there is no such directory", file=path)
    refuse_to_overwrite(path, option, mark=mark, reads=reads)
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise OptionError(f"{option}: this cannot be written", file=path)


def refuse_to_overwrite(path: str, option: str, *, mark: str, reads: str | None) -> None:
    """Refuse a file that is read, or that Mazurka has not written."""
    target = Path(path)
    if not target.is_file():  # a device or a pipe keeps nothing that could be lost
        return
    if reads is not None and Path(reads).exists() and target.samefile(reads):
        raise OptionError(
            f"{option} would overwrite the file that is read; name another", file=path
        )
    start = read_beginning(target, LOOKED_AT)
    if start and mark not in start and mark not in read_end(target):
        raise OptionError(
            f"{option} would overwrite this file, which Mazurka has not written there before; name"
            " another, or remove it",
            file=path,
        )


def read_end(path: Path) -> str:
    """The last characters of a file, whatever it contains."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - LOOKED_AT_THE_END, 0))
        return file.read().decode("utf-8", "replace")


def write(path: str, text: str | bytes) -> None:
    try:
        Path(path).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    except OSError as error:
        raise MazurkaError(f"cannot be written: {error.strerror or error}", file=path) from None
