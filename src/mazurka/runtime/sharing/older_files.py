"""The state of files and folders: every run has to find it as the first one did.

A test may write files: into a temporary folder that it makes, or one that is older.  The second run
would find them there, and what happens only once, such as making a folder that is missing, would
never be seen again.  So what is at a path is kept when a run is first about to change it, and put
back when the run has ended: new files are removed, others get the contents, the mode and the times
that they had.

What a run may change must fit into memory.  Where the system does not let anybody put something
back, it is named, and nothing is proved.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any, Final, NamedTuple

MOST: Final = 64 * 1024 * 1024
"""How many bytes are kept at most."""


class CannotKeepError(Exception):
    """What is at a path cannot be put back after the run; the argument says why."""


class KeptFile(NamedTuple):
    """What was found at a path."""

    mode: int
    """0 if there was nothing."""
    contents: bytes = b""
    """Of a file, or where a symbolic link leads."""
    times: tuple[int, int] = (0, 0)
    """When it was last read and changed, in nanoseconds."""


class OlderFiles:
    """What was found at the paths that runs change."""

    def __init__(self) -> None:
        self._first: dict[str, KeptFile] = {}
        self._met: set[str] = set()
        """Paths that the present run may have changed."""
        self._size = 0
        self.are_changed = False
        """Whether the exploration changes any files."""
        self.is_left_alone: Callable[[str], bool] | None = None
        """Tells whether somebody else sees to it that runs find a path as it was."""

    def clear(self) -> None:
        """Forget the exploration."""
        self._first.clear()
        self._met.clear()
        self._size = 0
        self.are_changed = False

    def meet(self, path: str) -> None:
        """Keep what is at a path, which the running thread is about to change."""
        if self.is_left_alone is not None and self.is_left_alone(path):
            return
        self.are_changed = True
        if path not in self._first:
            self._first[path] = self._find(path)
        self._met.add(path)

    def meet_all(self, path: str) -> None:
        """Keep what is at a path, and all that is in it if it is a folder."""
        self.meet(path)
        if path in self._met and stat.S_ISDIR(self._first[path].mode):
            for name in _list(path):
                self.meet_all(os.sep.join((path.rstrip(os.sep), name)))

    def _find(self, path: str) -> KeptFile:
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            return KeptFile(0)
        times = found.st_atime_ns, found.st_mtime_ns
        if stat.S_ISLNK(found.st_mode):
            return KeptFile(found.st_mode, os.fsencode(os.readlink(path)), times)
        if stat.S_ISDIR(found.st_mode):
            return KeptFile(found.st_mode, b"", times)
        if not stat.S_ISREG(found.st_mode):
            return KeptFile(found.st_mode)
        self._size += found.st_size
        if self._size > MOST:
            raise CannotKeepError(f"{path} ({found.st_size:,} bytes)")
        try:
            return KeptFile(found.st_mode, _read(path), times)
        except OSError:  # who may not read it rarely may write it
            return KeptFile(found.st_mode, b"", times)

    def put_back(self) -> list[str]:
        """Let the paths that the run has changed lead to what they led to; return those of which
        that is impossible."""
        met, self._met = self._met, set()
        lost: list[str] = []
        deepest_first = sorted(met, key=lambda path: (-path.count(os.sep), path))
        for path in deepest_first:
            if not self._first[path].mode:
                _try(lost, _remove, path)
        for path in reversed(deepest_first):
            first = self._first[path]
            if first.mode:
                _try(lost, _restore, path, first)
        for path in deepest_first:  # to fill a folder changes its times
            first = self._first[path]
            if stat.S_ISDIR(first.mode):
                _try(lost, os.utime, path, ns=first.times)
        return list(dict.fromkeys(lost))


def _try(
    lost: list[str], action: Callable[..., object], path: str, *given: Any, **more: Any
) -> None:
    """Put a file back; add its path to `lost` if the system refuses."""
    try:
        action(path, *given, **more)
    except OSError:
        lost.append(path)


def _list(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        pieces = []
        while piece := os.read(descriptor, 1 << 20):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    """Remove what is at a path, if anything is, with all that is in it."""
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISDIR(mode):
        for name in _list(path):
            _remove(os.sep.join((path, name)))
        os.rmdir(path)
    else:
        os.unlink(path)


def _restore(path: str, first: KeptFile) -> None:
    """Let a path lead to what it led to."""
    try:
        present = os.lstat(path)
    except OSError:
        present = None
    if present is not None and stat.S_IFMT(present.st_mode) != stat.S_IFMT(first.mode):
        _remove(path)
        present = None
    if stat.S_ISDIR(first.mode):
        if present is None:
            os.mkdir(path)
    elif stat.S_ISLNK(first.mode):
        if present is None or os.fsencode(os.readlink(path)) != first.contents:
            _remove(path)
            os.symlink(os.fsdecode(first.contents), path)
        return
    elif stat.S_ISREG(first.mode):
        if present is not None and _is_as(path, present, first):
            return
        _write(path, first.contents)
    else:
        return
    if present is None or present.st_mode != first.mode:
        os.chmod(path, stat.S_IMODE(first.mode))
    os.utime(path, ns=first.times)


def _is_as(path: str, present: os.stat_result, first: KeptFile) -> bool:
    """Whether a file is as it was.  Its times alone tell little: who writes can give it its old
    ones, and one that is mapped keeps them."""
    known = (len(first.contents), first.times[1], first.mode)
    found = (present.st_size, present.st_mtime_ns, present.st_mode)
    return found == known and _read(path) == first.contents


def _write(path: str, contents: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        while contents:
            contents = contents[os.write(descriptor, contents) :]
    finally:
        os.close(descriptor)


older_files: Final = OlderFiles()
