"""The file system as something in which threads meet: which locations an operation touches.

A path is two locations.  Its *entry* says whether there is anything, and what it is; creating,
removing and moving change it.  Its *contents* are what a file holds, and what the system knows of
it: size and times.  To list a folder reads the entries of all that threads create or remove in it
(`Knowledge.changed`), so that threads which create different files do not disturb each other.
Whoever uses a path looks at the entries of the folders above it; these count where a run shows that
threads change them.

Paths are absolute, and without symbolic links: what a path means must not depend on the moment at
which a thread comes there.  As long as no thread changes the current directory or a link while
others run, it does not.  Once a run shows that one does, a thread first stands before reading both,
and finds out then what its path means (`python.library.files`).

A file that is moved, or has several names, has one location for the contents under all its names,
from the run on that shows that.

A descriptor has a position that belongs to it, and so has a file object, with a buffer.  A method
of a file object may reach the file or not; it counts as doing so: as writing the contents if the
file is open for writing, as reading them otherwise.
"""

from __future__ import annotations

import errno
import io
import os
import weakref
from typing import Any, Final

from mazurka.runtime.core.insides import field_of
from mazurka.runtime.core.moment import now
from mazurka.runtime.python.containers import Part
from mazurka.runtime.python.places.operations import PlacePart, parts_at
from mazurka.runtime.python.places.outside import is_channel, use_descriptor
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.outside import outside
from mazurka.runtime.sharing.places import SharedPlace

_FILE: Final = "file"
_LISTED: Final = "folder"
_SAME: Final = "same file"
MOVING: Final = "the current directory or symbolic links"
"""What threads may change while others run, so that paths change their meaning (`learned`)."""


class FilePlace(SharedPlace):
    """The entry of a path, or the contents of the file there."""

    __slots__ = ("path",)

    def __init__(self, path: str, *, is_entry: bool) -> None:
        self.path = path
        shown = os.path.basename(path) or path
        super().__init__(f"{'path' if is_entry else 'contents of'} {path}", shown)


LINKS: Final = SharedPlace("symbolic links")


class OpenFile:
    """What a descriptor refers to: a file, and a position in it."""

    __slots__ = ("__weakref__", "is_closed", "is_locked", "path", "patience", "writes")

    def __init__(self, path: str, writes: bool) -> None:
        self.path = path
        self.writes = writes
        """Whether it is open for writing."""
        self.is_closed = False
        self.is_locked = False
        """Whether a lock on the file belongs to it (`fcntl.flock`)."""
        self.patience: float | None = None
        """Of a database: how many seconds a connection waits for others, if that is said."""


class Knowledge:
    """What the exploration knows of the file system, and what the present run has opened."""

    def __init__(self) -> None:
        self._entries: dict[str, FilePlace] = {}
        self._contents: dict[str, FilePlace] = {}
        self.changed: set[str] = set()
        """Paths that threads create, remove or move while others run, as far as that matters: in
        folders that are listed, and folders and links themselves."""
        self._listed: set[str] = set()
        self._same: dict[str, str] = {}
        """By path: another one, under which the contents are known."""
        self.descriptors: dict[int, OpenFile] = {}
        """What the run has opened, by descriptor."""
        self._files: dict[int, tuple[Any, OpenFile]] = {}
        """What the run has opened, by the identity of the raw file, with a weak reference to it,
        or what cannot be referred to weakly itself.  (The dictionaries of `weakref` are Python
        code, which the program may run, too.)"""
        self.locks: dict[str, Any] = {}
        """Locks on files that the run has taken, by path."""
        self.moments: dict[Any, float] = {}
        """When the run has written places, on the virtual clock."""

    def clear(self) -> None:
        """Forget the exploration."""
        self._entries.clear()
        self._contents.clear()
        self.changed.clear()
        self._listed.clear()
        self._same.clear()
        self.begin_run()

    def begin_run(self) -> None:
        self.descriptors.clear()
        self._files.clear()
        self.locks.clear()
        self.moments.clear()

    def register(self, raw: Any, found: OpenFile) -> None:
        """Note the file that a raw file object belongs to."""
        identity = id(raw)
        kept: Any = raw
        if field_of(type(raw), "__weakrefoffset__"):
            kept = weakref.ref(raw, lambda _: self._files.pop(identity, None))
        self._files[identity] = kept, found

    @property
    def has_files(self) -> bool:
        """Whether the run has opened any."""
        return bool(self._files)

    def file_of(self, raw: Any) -> OpenFile | None:
        kept, found = self._files.get(id(raw), (None, None))
        if kept is not raw and type(kept) is weakref.ref:
            kept = kept()
        return found if kept is raw else None

    # -- locations ---------------------------------------------------------------------------

    def entry(self, path: str) -> FilePlace:
        found = self._entries.get(path)
        if found is None:
            found = self._entries[path] = FilePlace(path, is_entry=True)
        return found

    def contents(self, path: str) -> FilePlace:
        path = self._first_name(path)
        found = self._contents.get(path)
        if found is None:
            found = self._contents[path] = FilePlace(path, is_entry=False)
        return found

    def _first_name(self, path: str) -> str:
        """Return the path under which the contents of a file are known, which has several."""
        seen = set()
        while self._same and path not in seen:
            seen.add(path)
            for one, other in self._same.items():
                if path == one or path.startswith(one + os.sep):
                    path = other + path[len(one) :]
                    break
        return path

    # -- what is learned ---------------------------------------------------------------------

    def _learn(self, label: str) -> None:
        if label not in learned.moving:
            learned.moving.add(label)
            learned.news.append(label)

    def change(self, path: str, *, is_folder: bool) -> None:
        """Note that the running thread changes the entry of a path."""
        matters = is_folder or os.path.dirname(path) in self._listed
        if matters and not now.alone and path not in self.changed:
            self.changed.add(path)
            self._learn(f"{_FILE} {path}")

    def note_listing(self, path: str) -> None:
        """Note that the running thread lists a folder."""
        if not now.alone and path not in self._listed:
            self._listed.add(path)
            self._learn(f"{_LISTED} {path}")

    def identify(self, path: str, other: str) -> None:
        """Note that two paths lead to one file, or have done so one after the other."""
        first, second = sorted((path, other))
        if first == second or self._same.get(second) == first:
            return
        if self._first_name(first) != self._first_name(second):
            self._same[second] = first
            self._learn(f"{_SAME} {first} {second}")

    def move_paths(self) -> None:
        """Note that a thread changes what paths mean, while others run."""
        if not now.alone:
            self._learn(MOVING)

    @property
    def paths_move(self) -> bool:
        return MOVING in learned.moving

    # -- accesses ----------------------------------------------------------------------------

    def above(self, path: str) -> list[PlacePart]:
        """Describe reads of the entries of the folders above a path, as far as they change."""
        if not self.changed:
            return []
        parts: list[PlacePart] = []
        folder = os.path.dirname(path)
        while folder and folder != path:
            if folder in self.changed:
                parts.append((self.entry(folder), How.READ_ALL))
            path, folder = folder, os.path.dirname(folder)
        return parts

    def inside(self, folder: str) -> list[PlacePart]:
        """Describe reads of the entries of all that threads change in a folder."""
        return [
            (self.entry(path), How.READ_ALL)
            for path in sorted(self.changed)
            if os.path.dirname(path) == folder
        ]


knowledge: Final = Knowledge()


def resolve(path: Any, folder: int | None = None, *, follows: bool = True) -> str | None:
    """Return the absolute path of what a function is given, without symbolic links.

    `folder` is the descriptor of the folder at which it begins.  Returns None for what is no path.
    """
    try:
        text = os.fsdecode(path)
    except (TypeError, ValueError):
        return None
    if folder is not None and not os.path.isabs(text):
        found = path_of(folder)
        if found is None:
            return None
        text = os.path.join(found, text)
    if follows:
        return _real_path(text)
    head, tail = os.path.split(os.path.abspath(text))
    return os.path.join(_real_path(head), tail) if tail else _real_path(head)


def _real_path(text: str) -> str:
    try:
        return os.path.realpath(text)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EINVAL):
            raise
        return os.path.normpath(text)


def path_of(descriptor: int) -> str | None:
    """Return the path of what a descriptor refers to; None if that is no file."""
    known = knowledge.descriptors.get(descriptor)
    if known is not None:
        return known.path
    try:
        found = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
    return found if os.path.isabs(found) and not found.startswith("/dev/") else None


# -- file objects --------------------------------------------------------------------------------

_RAW: Final = io.FileIO
_BUFFERED: Final = (io.BufferedReader, io.BufferedWriter, io.BufferedRandom)
FILES: Final = (_RAW, *_BUFFERED, io.TextIOWrapper)
"""Types of file objects that belong to files."""


def open_file_of(thing: Any) -> OpenFile | None:
    """Find the file that an object of the run belongs to: a file object, a map, a connection."""
    if not issubclass(type(thing), FILES):
        return knowledge.file_of(thing)
    raw = _raw_of(thing)
    return None if raw is None else knowledge.file_of(raw)


def _raw_of(thing: Any) -> Any:
    """Return what a file object reads and writes by; None if that is no file."""
    try:
        while not issubclass(type(thing), _RAW):
            if issubclass(type(thing), io.TextIOWrapper):
                thing = thing.buffer
            elif issubclass(type(thing), _BUFFERED):
                thing = thing.raw
            else:
                return None
    except ValueError:  # it has been detached
        return None
    return thing


def parts_of_file(thing: Any) -> list[Part]:
    """Describe the access of an operation on an object to the contents of its file."""
    if not now.alone:
        _note_channel(thing)
    if not knowledge.has_files:
        return []
    found = open_file_of(thing)
    if found is None:
        return []
    how = How.CHANGE if found.writes else How.READ_ALL
    return parts_at([(knowledge.contents(found.path), how)])


def _note_channel(thing: Any) -> None:
    """Note a use of a socket, or of a file object that is an end of a pipe."""
    kind = type(thing)
    if is_channel(kind):
        outside.use("socket.socket")
    elif issubclass(kind, FILES) and open_file_of(thing) is None:
        raw = _raw_of(thing)
        if raw is not None and not _RAW.closed.__get__(raw):
            use_descriptor(_RAW.fileno(raw), f"io.{kind.__name__}")
