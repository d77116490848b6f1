"""Locks of `multiprocessing` under control, and the refusal to start processes.

Lock, RLock, Semaphore, BoundedSemaphore, Condition, Event and Barrier of `multiprocessing` are
Python code around one class of C, `SemLock`: a counter that is waited for, and a recursive lock,
which is such a counter with an owner.  A class of ours takes its place.  What the Python code makes
of it (a condition has three counters and a lock) is run as it is, one operation after the other.

Such a lock is a lock as long as it stays in one process.  What another process does is not under
control: to start one is refused.
"""

from __future__ import annotations

import itertools
import os
import sys
from _thread import get_ident
from collections.abc import Callable, Hashable
from typing import Any, cast

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.names import adopt, next_name
from mazurka.runtime.core.operations import Object, Purpose, TryOperation, Waiting, make_operation
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.primitive import ATTRIBUTE, Primitive

try:
    from _multiprocessing import SemLock as RealSemLock  # type: ignore[import-not-found,unused-ignore]
except ImportError:  # a system without such locks
    RealSemLock = None

RECURSIVE, COUNTER = 0, 1
"""The kinds of `SemLock`: a lock that its owner may take again, and a counter."""
OUTSIDE = "outside"
"""Has taken a lock before the run."""
ADVICE = (
    "other processes are not under control: let the test call in place what they would do, use"
    " threads, or replace them (unittest.mock)"
)
PROCESS_LOCKS = "multiprocessing.synchronize"
"""The module whose objects hold these locks."""
_numbers = itertools.count()


class TakeUnit(Waiting):
    """Take a unit of a counter that has any."""

    __slots__ = ()
    shared: ProcessLock
    kind = "acquire"

    def lets(self, state: Hashable) -> bool:
        return cast(int, state) > 0

    def holder(self) -> str | None:
        return self.shared.last if self.shared.maxvalue == 1 and not self.shared.state else None

    def takes(self) -> Object:
        return self.shared

    def waits_for(self, purpose: Purpose | None) -> str:
        value = "" if self.shared.maxvalue == 1 else ", whose value is 0"
        return f"to acquire {self.shared}{value}"


GiveUnit = make_operation("release")
"""Give a unit back."""
LookAtUnits = make_operation("look at", writes=False)
"""See how many units there are, or who has taken one."""


class ProcessLock(Object):
    """The model of a `SemLock`.  The state is how many units there are."""

    __slots__ = ("__weakref__", "count", "last", "maxvalue", "real", "recursive")

    def __init__(self, recursive: bool = False, value: int = 1, maxvalue: int = 1) -> None:
        super().__init__("", value)
        self.recursive = recursive
        self.maxvalue = maxvalue
        self.count = 0
        """How often it was taken more than given back, by any thread."""
        self.last: str | None = None
        """The path of the thread that took it last."""
        self.real: Any = None
        run = session.current
        if run.ident == get_ident():
            self.name, self.epoch = next_name(run), run.epoch

    @property
    def kind(self) -> str:  # type: ignore[override]
        if self.recursive:
            return "rlock"
        return "lock" if self.maxvalue == 1 else "semaphore"

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        run = session.current
        if run.ident != get_ident():
            return cast(bool, self._outside().acquire(block, timeout))
        self._adopt(run)
        path = run.running.path
        if self.recursive and self.count and self.last == path:
            self.count += 1
            return True
        if block and timeout is None:
            run.point(TakeUnit(self))
        else:
            seconds = max(timeout or 0.0, 0.0) if block else 0.0
            run.point(TryOperation(TakeUnit(self), seconds))
            if not self.state:
                spend(run, seconds)
                return False
        self.state = cast(int, self.state) - 1
        self.count += 1
        self.last = path
        if self.real is not None and not self.recursive:
            self.real.acquire(False)
        return True

    def release(self) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside().release()
            return
        self._adopt(run)
        if self.recursive:
            if not (self.count and self.last == run.running.path):
                if run.over:
                    return
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self.count > 1:
                self.count -= 1
                return
        run.point(GiveUnit(self))
        if cast(int, self.state) >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        self.state = cast(int, self.state) + 1
        self.count -= 1
        if self.real is not None and not self.recursive:
            self.real.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def _look(self) -> Scheduler | None:
        """Look at it, under control; None where nobody controls the thread."""
        run = session.current
        if run.ident != get_ident():
            return None
        self._adopt(run)
        run.point(LookAtUnits(self))
        return run

    def _is_mine(self) -> bool:
        run = self._look()
        if run is None:
            return cast(bool, self._outside()._is_mine())
        return self.count > 0 and self.last == run.running.path

    def _count(self) -> int:
        return cast(int, self._outside()._count()) if self._look() is None else self.count

    def _get_value(self) -> int:
        if self._look() is None:
            return cast(int, self._outside()._get_value())
        return cast(int, self.state)

    def _is_zero(self) -> bool:
        return self._get_value() == 0

    def _after_fork(self) -> None:
        self.count = 0

    def _adopt(self, run: Scheduler) -> None:
        if self.epoch != run.epoch:
            adopt(run, self)

    def _outside(self) -> Any:
        """Return the real lock, for threads that nobody controls."""
        if self.real is None:
            name = f"/mazurka-{os.getpid()}-{next(_numbers)}"
            kind = RECURSIVE if self.recursive else COUNTER
            self.real = RealSemLock(kind, self.state, self.maxvalue, name, True)
        return self.real

    def refresh(self) -> None:
        if self.real is not None:
            self.recursive, self.maxvalue = self.real.kind == RECURSIVE, self.real.maxvalue
            self.state = self.real._get_value()
        self.count = self.maxvalue - cast(int, self.state)
        self.last = OUTSIDE if self.count else None

    def restore(self, state: Hashable) -> None:
        wanted = cast(int, state)
        if self.real is not None and not self.recursive:
            while self.real._get_value() < wanted:
                self.real.release()
            while self.real._get_value() > wanted:
                self.real.acquire(False)
        self.state = wanted


class SemLock:
    """What `multiprocessing` makes instead of a `_multiprocessing.SemLock` under control."""

    SEM_VALUE_MAX = getattr(RealSemLock, "SEM_VALUE_MAX", 2**31 - 1)
    name, handle = None, 0
    """The system knows nothing of it."""

    def __init__(
        self, kind: int, value: int, maxvalue: int, name: str = "", unlink: bool = True
    ) -> None:
        self.kind = kind
        self.maxvalue = maxvalue
        model = self.model = ProcessLock(kind == RECURSIVE, value, maxvalue)
        setattr(self, ATTRIBUTE, model)
        self.acquire, self.release = model.acquire, model.release
        self._is_mine, self._count = model._is_mine, model._count
        self._get_value, self._is_zero = model._get_value, model._is_zero
        self._after_fork = model._after_fork

    def __enter__(self) -> bool:
        return self.model.acquire()

    def __exit__(self, *error: object) -> None:
        self.model.release()


def _make_refusal(real: Callable[..., Any], what: str) -> Callable[..., Any]:
    def start(*given: Any, **named: Any) -> Any:
        run = session.current
        if run.ident == get_ident() and not run.over:
            run.refuse(f"{what}: {ADVICE}")
        return real(*given, **named)

    return start


def _replace(undo: Patches, settings: ControlSettings) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for name in ("fork", "forkpty"):
        real = getattr(os, name, None)
        if real is not None:
            ours = _make_refusal(real, f"the test starts another process (os.{name})")
            undo.attribute(os, name, ours)
            found.append((real, ours))
    return found


def _install(patches: Patches) -> None:
    module = sys.modules.get("_multiprocessing")
    if module is not None and RealSemLock is not None:
        patches.attribute(module, "SemLock", SemLock)
    if module is not None and RealSemLock is not None and "multiprocessing" in sys.modules:
        _install_locks(patches)
    process = getattr(sys.modules.get("multiprocessing.process"), "BaseProcess", None)
    if process is not None:
        what = "the test starts another process (multiprocessing.Process.start)"
        patches.attribute(process, "start", _make_refusal(process.start, what))


def _install_locks(patches: Patches) -> None:
    """Let locks be made under control without a name in the system, which is drawn by chance, and
    without registering them for processes that will not be started."""
    from multiprocessing import synchronize

    owner: Any = synchronize.SemLock

    def initialize(self: Any, kind: int, value: int, maxvalue: int, *, ctx: Any) -> None:
        if session.current.ident != get_ident():
            original(owner, "__init__")(self, kind, value, maxvalue, ctx=ctx)
            return
        self._is_fork_ctx = True
        self._semlock = SemLock(kind, value, maxvalue)
        self._make_methods()

    patches.methods(owner, __init__=initialize)


PRIMITIVE = Primitive(
    words=("lock", "rlock", "semaphore"),
    classes=() if RealSemLock is None else (RealSemLock,),
    models=(ProcessLock,),
    stand_ins={} if RealSemLock is None else {RealSemLock: ProcessLock},
    private={},
    parts=frozenset({"_semlock"}),
    replace=_replace,
    install=_install,
)
