"""Databases of `sqlite3`, and files that are mapped into memory.

C code keeps what is in a database; a connection is an object of its own.  Every call of a
connection, or of a cursor, counts as changing the database: two connections to one file, or to one
database in memory under a common name, meet in it.  SQLite lets a connection wait for as long as
another one has locked the database, some seconds at most.  Here it does not wait by itself: a call
that finds the database locked is repeated when the database has changed.  If the program says how
long to wait, it fails when that time is over, which is a choice of the scheduler, like every
timeout.  Databases that SQL attaches are not known, so `sqlite3` stays named in the result.

A map of a file changes the contents of the file when it is changed, and shows what others write.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.library.files import FileOperation
from mazurka.runtime.python.places.files import OpenFile, knowledge, path_of, resolve
from mazurka.runtime.python.waiting import wait_for_change
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.places import meet_place

_BUSY: Final = 5
"""The number of the error that a database is locked."""
_BESIDE: Final = ("-journal", "-wal", "-shm")
"""What SQLite appends to the path of a database for files of its own."""


@performs(CallEffect.OPENS_DATABASE)
def open_database(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`sqlite3.connect(database)`"""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    unobserved.note("sqlite3")
    progress()
    given = arguments[0] if arguments else named.get("database")
    described: list[str] = []
    describe = partial(_describe_database, given, bool(named.get("uri")), described)
    operation = FileOperation("open database", describe)
    named.pop("database", None)
    if len(arguments) > 1:  # up to Python 3.14
        seconds, arguments = arguments[1], (given, 0.0, *arguments[2:])
    else:
        seconds, arguments = named.get("timeout"), (given,)
        named["timeout"] = 0.0
    connection = operation.perform(site, function, *arguments, **named)
    if described:
        opened = OpenFile(described[0], True)
        opened.patience = seconds
        knowledge.register(connection, opened)
    return connection


def use_database(
    perform: Callable[..., Any], function: Any, site: int, /, *arguments: Any, **named: Any
) -> Any:
    """Call a method of a connection or a cursor, as `perform` does; again if it is locked out."""
    owner = function.__self__
    opened = knowledge.file_of(getattr(owner, "connection", owner))
    while True:
        try:
            return perform(site, *arguments, **named)
        except Exception as error:
            is_locked = getattr(error, "sqlite_errorcode", 0) & 0xFF == _BUSY
            if not is_locked or opened is None:
                raise
            if not wait_for_change(meet_place(knowledge.contents(opened.path)), opened.patience):
                raise


def _describe_database(
    given: Any, is_uri: bool, described: list[str], operation: FileOperation
) -> None:
    """Find out which database is opened, unless nobody else can open it."""
    described.clear()
    if given in ("", ":memory:", b"", b":memory:"):
        return
    text = given if type(given) is str else ""
    if is_uri and text.startswith("file:"):
        if "memory" in text:
            described.append(text)
            operation.places.append((knowledge.contents(text), How.CHANGE))
            return
        given = text.removeprefix("file:").partition("?")[0]
    path = resolve(given)
    if path is not None:
        described.append(path)
        operation.use(path, How.CHANGE, How.CHANGE)
        operation.change_name(path)
        operation.kept += [(path + more, False) for more in _BESIDE]


@performs(CallEffect.MAPS_FILE)
def map_file(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`mmap.mmap(descriptor, length)`"""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    unobserved.note("mmap")
    progress()
    number = arguments[0] if arguments else named.get("fileno", -1)
    path = path_of(number) if type(number) is int and number >= 0 else None
    if path is None:
        return function(*arguments, **named)

    def describe(operation: FileOperation) -> None:
        operation.names.append(path)
        operation.places.append((knowledge.contents(path), How.READ_ALL))
        operation.kept.append((path, False))

    found = FileOperation("map", describe).perform(site, function, *arguments, **named)
    knowledge.register(found, OpenFile(path, True))
    return found
