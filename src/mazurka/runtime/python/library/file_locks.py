"""Locks on files: `fcntl.flock` and `fcntl.lockf`.

A lock of `flock` belongs to what has been opened: two threads that have each opened the file keep
each other out, two that share one file object do not.  It is controlled like a lock: a thread that
has to wait is not scheduled, and what comes before a release comes before what follows the next
acquisition.

A lock of `lockf` belongs to the process.  Between threads it does nothing.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Hashable
from operator import index
from typing import Any, Final

from mazurka.runtime.core.operations import Object, TryOperation, Waiting, make_operation
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.places.file_functions import LOCKING
from mazurka.runtime.python.places.files import OpenFile, knowledge
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import see

_SHARED: Final = 1
_EXCLUSIVE: Final = 2
_NOT_BLOCKING: Final = 4
_UNLOCK: Final = 8


class FileLock(Object):
    """The locks on one file; its state is a set of who holds one, and whether alone."""

    __slots__ = ()
    kind = "lock"


class LockFile(Waiting):
    """Take a lock on a file that nobody else holds, or that several may hold."""

    __slots__ = ("_alone", "_me")
    kind = "lock"

    def __init__(self, shared: FileLock, me: str, alone: bool) -> None:
        super().__init__(shared)
        self._me = me
        self._alone = alone

    def lets(self, state: Hashable) -> bool:
        holders: Any = state
        return not any(who != self._me and (alone or self._alone) for who, alone in holders)

    def takes(self) -> Object:
        return self.shared


UnlockFile: Final = make_operation("unlock")
"""Give a lock on a file back."""


@performs(CallEffect.LOCKS_FILE)
def lock_file(function: Callable[..., Any], _site: int, /, *arguments: Any) -> Any:
    """`fcntl.flock(file, operation)`"""
    if session.current.ident != get_ident() or len(arguments) != 2:
        return function(*arguments)
    progress()
    given, flags = arguments[0], index(arguments[1])  # operators of a flag run code of the program
    number = given if type(given) is int else given.fileno()
    opened = knowledge.descriptors.get(number)
    if opened is None:
        unobserved.note("fcntl.flock")
        return function(*arguments)
    if flags & _UNLOCK:
        unlock_file(opened, number)
        return function(*arguments)
    run = session.current
    me = see(opened).name
    lock = _lock_on(opened)
    wanted = LockFile(lock, me, bool(flags & _EXCLUSIVE))
    run.point(TryOperation(wanted, 0.0) if flags & _NOT_BLOCKING else wanted)
    if run.over:
        return None
    result = function(number, flags | _NOT_BLOCKING)  # it is free, or that is an error
    holders: Any = lock.state
    others = {one for one in holders if one[0] != me}
    lock.state = frozenset({*others, (me, bool(flags & _EXCLUSIVE))})
    opened.is_locked = True
    return result


def unlock_file(opened: OpenFile, number: int) -> None:
    """Give back the lock that belongs to an open file, if there is one, by its descriptor."""
    run = session.current
    if opened.is_locked and not run.over:
        lock = _lock_on(opened)
        run.point(UnlockFile(lock))
        LOCKING[0](number, _UNLOCK)
        holders: Any = lock.state
        me = see(opened).name
        lock.state = frozenset(one for one in holders if one[0] != me)
        opened.is_locked = False


def _lock_on(opened: OpenFile) -> FileLock:
    found = knowledge.locks.get(opened.path)
    if found is None:
        found = knowledge.locks[opened.path] = FileLock(f"lock on {opened.path}", frozenset())
        found.origin = opened.path
        found.epoch = session.current.epoch
    lock: FileLock = found
    return lock
