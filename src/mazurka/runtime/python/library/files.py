"""Performs functions that use files and folders, as operations on the places where threads meet.

Which places an operation touches is in `python.places.files`.  Before a run changes anything, what
is there is kept, so that the next run finds it (`sharing.older_files`).

What is in a folder comes in the order of the names: the system's own order may depend on who has
created what first, and on the system.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import weakref
from _thread import get_ident
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FrameType
from typing import Any, Final, Self

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.containers import Part, parts_of, use_at_end
from mazurka.runtime.python.library.file_locks import unlock_file
from mazurka.runtime.python.library.file_times import note_writes, show_times
from mazurka.runtime.python.library.settings import CURRENT_DIRECTORY, MASK
from mazurka.runtime.python.opaque import opaque_parts, part_of_opaque
from mazurka.runtime.python.places.file_functions import (
    ASKING,
    ASKING_MODULES,
    FILE_FUNCTIONS,
    FileFunction,
    FileUse,
    Given,
)
from mazurka.runtime.python.places.files import (
    LINKS,
    OpenFile,
    knowledge,
    open_file_of,
    path_of,
    resolve,
)
from mazurka.runtime.python.places.operations import (
    PlacePart,
    PlaceTurn,
    parts_at,
    stand_before,
)
from mazurka.runtime.python.places.outside import use_descriptor
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_files import CannotKeepError, older_files
from mazurka.runtime.sharing.places import meet_place

_READ: Final = How.READ_ALL
_WRITE: Final = How.CHANGE
_POSITION: Final = frozenset({FileUse.READ, FileUse.WRITE, FileUse.SHIFT, FileUse.CLOSE})
"""Uses of a descriptor that move its position, or end it."""
_MAKES_NAME: Final = frozenset({FileUse.CREATE, FileUse.CREATE_FOLDER, FileUse.POINT})
_TAKES_NAME: Final = frozenset({FileUse.REMOVE, FileUse.REMOVE_FOLDER})
_END: Final = number_of(AccessSite(__file__, 1, 0, 1, 0, "end"))
learned.ends[_END] = "the end of a file that nobody closes (other threads use it meanwhile)"


class FileOperation:
    """One operation on files: what it touches, and what has to be kept before."""

    def __init__(self, words: str, describe: Callable[[FileOperation], None]) -> None:
        self._words = words
        self._describe = describe
        self.places: list[PlacePart] = []
        self.objects: list[Part] = []
        """Accesses to objects: descriptors, buffers that are filled."""
        self.kept: list[tuple[str, bool]] = []
        """Paths that it changes, and whether with all that is in them."""
        self.names: list[str] = []
        """What people call the files."""
        self.folder = ""
        """The path that is examined, which may be a folder."""

    def find(self) -> None:
        """Find out what it touches at present."""
        self.places, self.objects, self.kept, self.names = [], [], [], []
        session.current.do_aside(self._describe, self)

    @property
    def words(self) -> str:
        return f"{self._words} {' to '.join(self.names)}".rstrip()

    def stand(self, site: int) -> PlaceTurn:
        """Stand before the operation; find out again what it touches, if paths change meaning."""
        if not knowledge.paths_move:
            self.find()
            return stand_before([*parts_at(self.places), *self.objects], site, self.words)
        moving: list[PlacePart] = [(CURRENT_DIRECTORY, _READ), (LINKS, _READ)]
        turn = stand_before(parts_at(moving), site, f"find {self._words}")
        self.find()
        while True:
            before = self.places
            turn.end()
            parts = [*parts_at([*moving, *before]), *self.objects]
            turn = stand_before(parts, site, self.words)
            self.find()
            if self.places == before:
                return turn

    def perform(
        self, site: int, action: Callable[..., Any], /, *arguments: Any, **named: Any
    ) -> Any:
        """Perform an action as this operation."""
        turn = self.stand(site)
        self.keep()
        outcome = ""
        try:
            result = action(*arguments, **named)
            outcome = self._tell(result)
            note_writes(self.places)
            return show_times(result, self.places)
        except Exception as error:
            outcome = self._tell(error)
            raise
        finally:
            turn.end(outcome)

    def _tell(self, result: Any) -> str:
        """Say what has come of the operation, unless that is what was wanted."""
        is_error = isinstance(result, Exception)
        if not self._words.startswith("look"):
            return f": {type(result).__name__}" if is_error else ""
        if is_error:
            is_missing = isinstance(result, (FileNotFoundError, NotADirectoryError))
            return " ➜ missing" if is_missing else f": {type(result).__name__}"
        return " ➜ no" if result is False else " ➜ there"

    def keep(self) -> None:
        """Keep what is at the paths that it changes."""
        try:
            for path, is_whole in self.kept:
                (older_files.meet_all if is_whole else older_files.meet)(path)
        except CannotKeepError as error:
            session.current.refuse(
                f"the test changes a file that is too large to be put back after each execution:"
                f" {error}; make a smaller one inside the test"
            )

    # -- what it touches ---------------------------------------------------------------------

    def use(self, path: str, entry: How, contents: How | None = None) -> None:
        """Add accesses to the entry of a path, and to its contents."""
        self.names.append(path.rpartition(os.sep)[2] or path)
        self.places.append((knowledge.entry(path), entry))
        if contents is not None:
            self.places.append((knowledge.contents(path), contents))
        self.places += knowledge.above(path)

    def change_name(self, path: str, *, is_folder: bool = False, is_whole: bool = False) -> None:
        """Note that it changes what a path leads to."""
        knowledge.change(path, is_folder=is_folder)
        if knowledge.paths_move:
            self.places.append((LINKS, _WRITE))
        self.kept.append((path, is_whole))


# -- functions of `os` ---------------------------------------------------------------------------


@performs(CallEffect.USES_FILES)
def use_files(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that is given paths or descriptors."""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    progress()
    row = FILE_FUNCTIONS[function]
    if row.words == "look at" and _only_asks(sys._getframe(1)):
        row = row._replace(
            words="look for",
            given=tuple(one._replace(use=FileUse.FIND) for one in row.given),
        )
    first: Any = arguments[0] if arguments else named.get("fd")
    opened = knowledge.descriptors.get(first) if type(first) is int else None
    if function is os.close and opened is not None:
        unlock_file(opened, first)
    describe = partial(_describe, function, row, arguments, named)
    operation = FileOperation(row.words, describe)
    result = operation.perform(site, partial(_call, function), *arguments, **named)
    _learn_after(row, operation, result)
    if function is os.close:
        knowledge.descriptors.pop(first, None)
    elif function in (os.dup, os.dup2) and opened is not None:
        knowledge.descriptors[result] = opened
    return result


def _only_asks(frame: FrameType | None) -> bool:
    """Tell whether a function of the library only wants to know whether a file is there."""
    for _ in range(2):
        if frame is None or frame.f_globals.get("__name__") not in ASKING_MODULES:
            return False
        if frame.f_code.co_name in ASKING:
            return True
        frame = frame.f_back
    return False


def _call(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Call a function; put what is in a folder in order."""
    result = function(*arguments, **named)
    if function is os.listdir:
        return sorted(result)
    if function is os.scandir:
        with result:
            return ListedFolder(sorted(result, key=_name_of))
    return result


def _name_of(entry: os.DirEntry[Any]) -> Any:
    return entry.name


def _learn_after(row: FileFunction, operation: FileOperation, result: Any) -> None:
    """Learn that what was looked at is a folder, whose times depend on what is in it."""
    is_examined = row.words == "look at" and issubclass(type(result), os.stat_result)
    if is_examined and stat.S_ISDIR(result.st_mode) and operation.folder:
        knowledge.note_listing(operation.folder)


def _describe(
    function: Any,
    row: FileFunction,
    arguments: Sequence[Any],
    named: dict[str, Any],
    operation: FileOperation,
) -> None:
    """Find out what a function of `os` touches."""
    paths = []
    for number, given in enumerate(row.given):
        value = _argument(given, arguments, named)
        if type(value) is int:
            path = _use_descriptor(function, value, given.use, operation)
        else:
            keyword = row.folder[min(number, len(row.folder) - 1)]
            follows = row.follows and named.get("follow_symlinks", True)
            path = resolve(value, named.get(keyword), follows=follows)
            if path is not None:
                _use_path(path, given.use, number, operation)
        paths.append(path)
    if row.given[0].use in (FileUse.READ, FileUse.WRITE):  # what is read into, or written from
        operation.objects += [*parts_of(arguments[1:], _WRITE), *opaque_parts(arguments[1:])]
    if len(paths) == 2 and None not in paths and row.given[0].use in (FileUse.MOVE, FileUse.LINK):
        first, second = map(str, paths)
        knowledge.identify(first, second)


def _argument(given: Given, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    if given.position < len(arguments):
        found = arguments[given.position]
    else:
        found = next((named[name] for name in given.names if name in named), None)
    return "." if found is None and given.use is FileUse.LIST else found


def _use_descriptor(
    function: Any, descriptor: int, use: FileUse, operation: FileOperation
) -> str | None:
    """Add what a use of a descriptor touches; return the path of its file."""
    path = path_of(descriptor)
    if path is None:
        if descriptor > 2:
            unobserved.note("os")  # a pipe, a terminal, a socket
            use_descriptor(descriptor, f"os.{function.__name__}")
        return None
    opened = knowledge.descriptors.get(descriptor)
    if opened is not None and use in _POSITION:
        operation.objects.append(part_of_opaque(opened))
    if use in (FileUse.LIST, FileUse.ENTER):
        _use_path(path, use, 0, operation)
    elif use is not FileUse.CLOSE:
        writes = use in (FileUse.WRITE, FileUse.ALTER)
        operation.names.append(path.rpartition(os.sep)[2])
        operation.places.append((knowledge.contents(path), _WRITE if writes else _READ))
        if writes and opened is None:
            operation.kept.append((path, False))
    return path


def _use_path(path: str, use: FileUse, number: int, operation: FileOperation) -> None:
    """Add what a use of a path touches."""
    if use is FileUse.FIND or (use is FileUse.LINK and not number):
        operation.use(path, _READ)
    elif use is FileUse.EXAMINE:
        operation.use(path, _READ, _READ)
        operation.places += knowledge.inside(path)
        operation.folder = path
    elif use is FileUse.ENTER:
        knowledge.move_paths()
        operation.use(path, _READ)
        operation.places.append((CURRENT_DIRECTORY, _WRITE))
    elif use is FileUse.LIST:
        knowledge.note_listing(path)
        operation.use(path, _READ)
        operation.places += knowledge.inside(path)
    elif use is FileUse.ALTER:
        operation.use(path, _READ, _WRITE)
        operation.kept.append((path, False))
    elif use in _MAKES_NAME or use is FileUse.LINK:
        operation.use(path, _WRITE)
        operation.places.append((MASK, _READ))
        operation.change_name(path, is_folder=use is not FileUse.CREATE)
        if use is FileUse.POINT:
            knowledge.move_paths()
    elif use in _TAKES_NAME:
        operation.use(path, _WRITE)
        if use is FileUse.REMOVE_FOLDER:
            knowledge.note_listing(path)
            operation.places += knowledge.inside(path)
        elif os.path.islink(path):
            knowledge.move_paths()
        operation.change_name(path, is_folder=use is FileUse.REMOVE_FOLDER)
    else:
        operation.use(path, _WRITE, _WRITE)
        operation.change_name(path, is_folder=os.path.isdir(path), is_whole=True)
        if os.path.islink(path):
            knowledge.move_paths()


# -- folders -------------------------------------------------------------------------------------


class ListedFolder:
    """What `os.scandir` gives: what was in a folder, in the order of the names."""

    __slots__ = ("_entries",)

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[os.DirEntry[Any]]:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def close(self) -> None:
        self._entries = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def use_entry(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a method of something that `os.scandir` has found, such as `entry.stat()`."""
    entry: os.DirEntry[Any] = function.__self__

    def describe(operation: FileOperation) -> None:
        path = resolve(entry.path, follows=named.get("follow_symlinks", True))
        if path is not None:
            contents = _READ if function.__name__ == "stat" else None
            operation.use(path, _READ, contents)

    if session.current.ident != get_ident() or function.__name__ in ("__fspath__", "inode"):
        return function(*arguments, **named)
    progress()
    return FileOperation("look at", describe).perform(site, function, *arguments, **named)


# -- files ---------------------------------------------------------------------------------------


@performs(CallEffect.OPENS_FILE)
def open_file(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`open(path)`, `os.open(path, flags)`, `io.FileIO(path)`"""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    progress()
    given = arguments[0] if arguments else named.get("file", named.get("path"))
    flags = _flags_of(function, arguments, named)
    writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
    if type(given) is int:
        known = knowledge.descriptors.get(given)
        path = None if known is not None else path_of(given)
        found = known or (None if path is None else OpenFile(path, writes))
        return _register(function(*arguments, **named), found)
    if named.get("opener") is not None or len(arguments) > (3 if function is io.FileIO else 7):
        result = function(*arguments, **named)  # what opens it is Python code, or has its own row
        return _register(result, knowledge.descriptors.get(result.fileno()))
    described: list[str] = []

    def describe(operation: FileOperation) -> None:
        described[:] = _describe_opening(given, named.get("dir_fd"), flags, operation)

    operation = FileOperation("open for writing" if writes else "open", describe)
    result = operation.perform(site, function, *arguments, **named)
    found = OpenFile(described[0], writes) if described else None
    return _register(result, found)


def _flags_of(function: Any, arguments: Sequence[Any], named: dict[str, Any]) -> int:
    """Return how a file is opened, as `os.open` wants it."""
    given = arguments[1] if len(arguments) > 1 else named.get("mode", named.get("flags"))
    if function is os.open:
        return given if type(given) is int else os.O_RDWR | os.O_CREAT
    mode = given if type(given) is str else "r"
    flags = os.O_RDWR if "+" in mode else os.O_RDONLY if "r" in mode else os.O_WRONLY
    for letter, more in _LETTERS.items():
        flags |= more if letter in mode else 0
    return flags


_LETTERS: Final = {
    "w": os.O_CREAT | os.O_TRUNC,
    "a": os.O_CREAT | os.O_APPEND,
    "x": os.O_CREAT | os.O_EXCL,
}
_UNNAMED: Final = getattr(os, "O_TMPFILE", 0)


def _describe_opening(
    given: Any, folder: int | None, flags: int, operation: FileOperation
) -> list[str]:
    """Find out what opening a file touches; return its path, if it has one."""
    follows = not flags & getattr(os, "O_NOFOLLOW", 0)
    path = resolve(given, folder, follows=follows)
    if path is None or (_UNNAMED and flags & _UNNAMED == _UNNAMED):
        return []
    writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
    creates = bool(flags & os.O_CREAT)
    contents = _WRITE if flags & os.O_TRUNC else _READ if flags & os.O_APPEND else None
    operation.use(path, _WRITE if creates else _READ, contents)
    if creates:
        operation.places.append((MASK, _READ))
        operation.change_name(path)
    elif writes:
        operation.kept.append((path, False))
    return [path]


def _register(result: Any, found: OpenFile | None) -> Any:
    """Note what a descriptor or a file object belongs to; return it."""
    if found is None:
        return result
    if type(result) is int:
        knowledge.descriptors[result] = found
        return result
    raw = result
    for name in ("buffer", "raw"):
        raw = getattr(raw, name, raw)
    knowledge.register(raw, found)
    knowledge.descriptors[raw.fileno()] = found
    if found.writes:
        note = partial(_note_end, session.current, id(result), found)
        _ends[id(result)] = weakref.ref(result, note)
    return result


_ends: dict[int, Any] = {}
"""By the identity of a file object that is open for writing: what tells of its end."""


def forget_files() -> None:
    """Forget what the runs so far have opened."""
    _ends.clear()
    knowledge.begin_run()


def _note_end(run: Any, identity: int, found: OpenFile, _: object) -> None:
    """Note the end of a file object that nobody has closed: what it kept back is written."""
    _ends.pop(identity, None)
    if found.is_closed or run is not session.current or run.ident != get_ident() or run.over:
        return
    if not now.alone:
        use_at_end(meet_place(knowledge.contents(found.path)), _END, written=True)


def close_file(function: Any, site: int, /, *arguments: Any) -> Any:
    """`file.close()`, and the end of `with file:`; what was kept back is written."""
    file = function.__self__
    found = open_file_of(file)
    if found is None or session.current.ident != get_ident():
        return function(*arguments)
    numbers = [number for number, one in knowledge.descriptors.items() if one is found]

    def describe(operation: FileOperation) -> None:
        operation.names.append(found.path.rpartition(os.sep)[2])
        operation.objects.append(part_of_opaque(file))
        if found.writes:
            operation.places.append((knowledge.contents(found.path), _WRITE))

    progress()
    if found.is_locked and numbers:  # what was kept back is written before the lock is free
        FileOperation("flush", describe).perform(site, file.flush)
        unlock_file(found, numbers[0])
    found.is_closed = True
    try:
        return FileOperation("close", describe).perform(site, function, *arguments)
    finally:
        for number in numbers:
            knowledge.descriptors.pop(number, None)
        if session.current.over:  # the thread has been ended where it stood
            file.close()
