"""Locks under control: `threading.Lock` and `threading.RLock`.

The real ones are C objects that cannot be patched, so these classes take their places.  A lock
may be met by threads that nobody controls (before and after an exploration, or threads that
existed before); for them there is a real lock inside, made when it is first needed and held
whenever the model is.  A lock that existed before the exploration is the real lock inside one of
these.

A `Lock` has no owner: any thread may release it.  The state of both is the path of the thread that
took it, or None.
"""

from __future__ import annotations

import _thread
import sys
import threading
import warnings
from _thread import LockType as RealLock
from _thread import RLock as RealRLock
from _thread import allocate_lock, get_ident
from collections.abc import Hashable
from typing import Any, ClassVar, NoReturn

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.names import adopt, name_of
from mazurka.runtime.core.operations import Object, Purpose, TryOperation, Waiting, make_operation
from mazurka.runtime.core.patches import Patches, bind_as_builtin
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.primitive import Primitive

OUTSIDE = "outside"
"""Holds a lock that was taken before the run, or by a thread that nobody controls."""


class Acquire(Waiting):
    """Take a lock that nobody holds."""

    __slots__ = ()
    shared: ControlledLock
    kind = "acquire"

    def ready(self) -> bool:
        return self.shared.state is None

    def lets(self, state: Hashable) -> bool:
        return state is None

    def holder(self) -> str | None:
        state = self.shared.state
        return state if isinstance(state, str) else None

    def takes(self) -> Object:
        return self.shared

    def waits_for(self, purpose: Purpose | None) -> str:
        depth = self.shared.count
        times = "twice" if depth == 2 else f"{depth} times"
        return f"to acquire {self.shared}{f', taken {times}' if depth > 1 else ''}"


Release = make_operation("release")
"""Give a lock back."""
LookLocked = make_operation("locked", writes=False)
"""See whether somebody holds a lock."""


def check_timeout(blocking: bool, timeout: float) -> None:
    """Refuse what a real lock refuses, in its words: ask one that is free."""
    allocate_lock().acquire(blocking, timeout)


class ControlledLock(Object):
    """What both kinds of locks share."""

    __slots__ = ("__weakref__", "count", "real")
    stands_for: ClassVar[type]

    def __init__(self) -> None:
        self.state: Hashable = None
        self.real: Any = None
        """The real lock inside, where there is one."""
        self.count = 0
        """How often its owner has taken it, where that can be more than once."""
        self.kept_by = self.origin = None
        run = session.current
        if run.ident == get_ident():
            me = run.running
            names = me.names
            number = me.objects
            me.objects = number + 1
            self.name = names[number] if number < len(names) else name_of(run, number)
            self.epoch = run.epoch
        else:
            self.name = ""
            self.epoch = 0

    @property
    def __class__(self) -> Any:
        return self.stands_for

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the class of a lock cannot be changed")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        kind = self.stands_for
        raise TypeError(f"cannot pickle '{kind.__module__}.{kind.__name__}' object")

    def release(self) -> None:
        raise NotImplementedError

    def locked(self) -> bool:
        raise NotImplementedError

    def __exit__(self, *error: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self.state, self.count, self.real = None, 0, None

    def _is_seen_locked(self) -> bool:
        """Whether it is held, for its text: under control, this is to look at it."""
        return self.locked() if session.current.ident == get_ident() else self.state is not None


class Lock(ControlledLock):
    """`threading.Lock`."""

    __slots__ = ()
    kind = "lock"
    stands_for = RealLock

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        run = session.current
        if run.ident != get_ident():
            return self._outside().acquire(blocking, timeout)  # type: ignore[no-any-return]
        if self.epoch != run.epoch:
            adopt(run, self)
        if blocking and timeout == -1:
            run.point(Acquire(self))
        else:
            check_timeout(blocking, timeout)
            run.point(TryOperation(Acquire(self), timeout if blocking else 0.0))
            if self.state is not None:
                if blocking:
                    spend(run, timeout)
                return False
        self.state = run.running.path
        if self.real is not None:
            self.real.acquire()
        return True

    def release(self) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside().release()
            return
        if self.epoch != run.epoch:
            adopt(run, self)
        run.point(Release(self))
        if self.state is None:
            if not run.over:
                raise RuntimeError("release unlocked lock")
            return
        self.state = None
        if self.real is not None:
            self.real.release()

    def locked(self) -> bool:
        run = session.current
        if run.ident != get_ident():
            return self._outside().locked()  # type: ignore[no-any-return]
        if self.epoch != run.epoch:
            adopt(run, self)
        run.point(LookLocked(self))
        return self.state is not None

    __enter__ = acquire
    acquire_lock = acquire
    release_lock = release
    locked_lock = locked

    def give_up(self) -> int:
        """Release it, as part of another operation."""
        self.state = None
        if self.real is not None:
            self.real.release()
        return 1

    def take_back(self, path: str, count: int) -> None:
        self.state = path
        if self.real is not None:
            self.real.acquire()

    def is_mine(self, path: str) -> bool:
        """Whether a thread may use the condition around it; as for the real one, it is enough that
        somebody holds it."""
        return self.state is not None

    def _outside(self) -> Any:
        """Return the real lock, for threads that nobody controls."""
        if self.real is None:
            real = allocate_lock()
            if self.state is not None:
                real.acquire()
            self.real = real
        return self.real

    def refresh(self) -> None:
        if self.real is not None:
            self.state = OUTSIDE if self.real.locked() else None
        elif self.state is not None:
            self.state = OUTSIDE

    def restore(self, state: Hashable) -> None:
        if self.real is not None and (state is None) != (self.state is None):
            if state is None:
                self.real.release()
            else:
                self.real.acquire(False)
        self.state = state

    def __repr__(self) -> str:
        how = "locked" if self._is_seen_locked() else "unlocked"
        return f"<{how} _thread.lock object at {id(self):#x}>"


class RLock(ControlledLock):
    """`threading.RLock`.  Only the outermost acquire and release are points.

    What happens in between is nobody else's business: others see whether it is held, no more.
    """

    __slots__ = ()
    kind = "rlock"
    stands_for = RealRLock

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        run = session.current
        if run.ident != get_ident():
            return self._outside().acquire(blocking, timeout)  # type: ignore[no-any-return]
        if self.epoch != run.epoch:
            adopt(run, self)
        path = run.running.path
        if not blocking or timeout != -1:
            check_timeout(blocking, timeout)
        if self.state != path:
            if blocking and timeout == -1:
                run.point(Acquire(self))
            else:
                run.point(TryOperation(Acquire(self), timeout if blocking else 0.0))
                if self.state is not None:
                    if blocking:
                        spend(run, timeout)
                    return False
            self.state = path
        self.count += 1
        if self.real is not None:
            self.real.acquire()
        return True

    def release(self) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside().release()
            return
        if self.epoch != run.epoch:
            adopt(run, self)
        if self.state != run.running.path:
            if not run.over:
                raise RuntimeError("cannot release un-acquired lock")
            return
        if self.count == 1:
            run.point(Release(self))
            self.state = None
        self.count -= 1
        if self.real is not None:
            self.real.release()

    def locked(self) -> bool:
        run = session.current
        if run.ident != get_ident():
            real = self._outside()
            if real._is_owned():
                return True
            if real.acquire(False):
                real.release()
                return False
            return True
        if self.epoch != run.epoch:
            adopt(run, self)
        run.point(LookLocked(self))
        return self.state is not None

    __enter__ = acquire

    def _is_owned(self) -> bool:
        run = session.current
        if run.ident != get_ident():
            return self._outside()._is_owned()  # type: ignore[no-any-return]
        return self.state == run.running.path

    def _recursion_count(self) -> int:
        return self.count if self._is_owned() else 0

    def _release_save(self) -> Any:
        run = session.current
        if run.ident != get_ident():
            return self._outside()._release_save()
        count = self.count
        for _ in range(count):
            self.release()
        return count

    def _acquire_restore(self, saved: Any) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside()._acquire_restore(saved)
            return
        for _ in range(saved):
            self.acquire()

    def _outside(self) -> Any:
        if self.real is None:
            self.real = RealRLock()
        return self.real

    def refresh(self) -> None:
        self.state, self.count = None, 0
        if self.real is not None and not self.real.acquire(False):
            self.state, self.count = OUTSIDE, 1
        elif self.real is not None:
            self.real.release()

    def restore(self, state: Hashable) -> None:
        if self.state == state:
            return
        if self.real is not None and state is None:
            self.real._at_fork_reinit()  # its owner may be gone, and nobody else could release it
        self.state, self.count = state, int(state is not None)

    def give_up(self) -> int:
        """Release it altogether, as part of another operation."""
        count, self.count, self.state = self.count, 0, None
        if self.real is not None:
            self.real._release_save()
        return count

    def take_back(self, path: str, count: int) -> None:
        self.state, self.count = path, count
        if self.real is not None:
            for _ in range(count):
                self.real.acquire()

    def is_mine(self, path: str) -> bool:
        return self.state == path

    def __repr__(self) -> str:
        how = "locked" if self._is_seen_locked() else "unlocked"
        return f"<{how} _thread.RLock object count={self.count} at {id(self):#x}>"


def _allocate_lock(_module: object, /) -> Any:
    """Stand for `_thread.allocate_lock`.  The locks with which Python guards imports stay real."""
    importing = sys._getframe(1).f_globals.get("__name__") in _IMPORTERS
    return allocate_lock() if importing else Lock()


_IMPORTERS = frozenset({"importlib._bootstrap", "_frozen_importlib"})


def _replace(undo: Patches, settings: ControlSettings) -> list[tuple[Any, Any]]:
    kinds = ((threading.Lock, Lock), (allocate_lock, Lock), (RealLock, Lock), (RealRLock, RLock))
    return list(kinds)


def _install(patches: Patches) -> None:
    for name in ("Lock", "_allocate_lock", "_CRLock"):
        patches.attribute(threading, name, RLock if name == "_CRLock" else Lock)
    for name in ("allocate_lock", "allocate"):
        patches.attribute(_thread, name, bind_as_builtin(_allocate_lock, allocate_lock))
    if hasattr(warnings, "_lock"):  # from Python 3.14 on: a lock of C code, behind functions
        lock = RLock()
        lock.origin = "warnings._lock"
        patches.attribute(warnings, "_lock", lock)
        patches.attribute(warnings, "_filters_mutated_lock_held", forget_warnings)


def forget_warnings() -> None:
    """Let C code know that the filters of `warnings` have changed."""
    c_code: Any = sys.modules["_warnings"]
    if hasattr(c_code, "_filters_mutated"):  # up to Python 3.13
        c_code._filters_mutated()
        return
    c_code._acquire_lock()
    try:
        c_code._filters_mutated_lock_held()
    finally:
        c_code._release_lock()


PRIMITIVE = Primitive(
    words=("lock", "rlock"),
    classes=(RealLock, RealRLock),
    models=(Lock, RLock),
    stand_ins={RealLock: Lock, RealRLock: RLock},
    private={},
    parts=frozenset(),
    replace=_replace,
    install=_install,
)
