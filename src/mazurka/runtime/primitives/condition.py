"""`threading.Condition` under control.

The class is written in Python, so its methods are replaced while an exploration goes on; objects
made before, subclasses, and names bound early are all reached.  To wait is two operations: one
that lets the lock go and joins the waiters, and one that takes the lock again after a
notification, as one step: nobody could see the moment between the two.  Waiters are woken in the
order in which they came, as in CPython.

A condition on a lock that is not one of ours (any object with `acquire` and `release`) keeps its
own methods, which work on locks under control.

`wait_for` and barriers add up what is left of a timeout by the clock that `threading` took from
`time`; it is virtual even where the program's own clocks are not, since no real time passes in a
wait that is in vain.
"""

from __future__ import annotations

import threading
import time
from _thread import get_ident
from collections.abc import Hashable, Sequence
from typing import Any, cast

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.names import adopt
from mazurka.runtime.core.operations import (
    Object,
    Purpose,
    RealOperation,
    Yields,
    describe_failure,
    dial,
    make_operation,
)
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.clock import make_virtual
from mazurka.runtime.primitives.lock import Lock, LookLocked, RLock
from mazurka.runtime.primitives.primitive import (
    ATTRIBUTE,
    Look,
    LookInside,
    PatchedModel,
    Primitive,
    create_model,
    model_of,
    refuse_to_show,
    with_real_locks,
)
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.stateless.runs import Lookup, Shared, Touch


class ConditionModel(PatchedModel):
    """A condition.  The state is who waits: the path of each, and which of its waits it is."""

    __slots__ = ("sort",)

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.state: Hashable = ()
        self.sort = "condition"
        """What it is for people: perhaps a future, or a barrier, of which it is a part."""

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.sort

    def __str__(self) -> str:
        known = self.origin or str(self.name)
        return known if known.startswith(f"{self.sort} ") else f"{self.sort} {known}"

    def refresh(self) -> None:
        self.state = ()

    def restore(self, state: Hashable) -> None:
        self.state = state  # the real one knows nothing of those who wait

    @property
    def waiters(self) -> tuple[Hashable, ...]:
        return cast("tuple[Hashable, ...]", self.state)


class Wait(RealOperation):
    """Let the lock go and join the waiters."""

    __slots__ = ("lock",)
    kind = "wait"

    def __init__(self, shared: Object, lock: Object) -> None:
        self.shared = shared
        self.lock = lock

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return ((self.shared, True), (self.lock, True))

    def objects(self) -> tuple[Shared, ...]:
        return self.shared, self.lock


class Wake(RealOperation):
    """Come back from a wait with the lock: after a notification, or, if timed, without one."""

    __slots__ = ("lock", "seconds", "timed", "token")
    kind = "wake"
    is_timed = True
    free = False

    def __init__(
        self, shared: Object, lock: Object, token: Hashable, timeout: float | None
    ) -> None:
        self.shared = shared
        self.lock = lock
        self.token = token
        self.timed = timeout is not None
        self.seconds = timeout or 0.0

    @property
    def yields(self) -> Yields:  # type: ignore[override]
        return self._is_waiting if self.timed else False

    def _is_waiting(self, lookup: Lookup) -> bool:
        return self.token in cast("tuple[Hashable, ...]", lookup(self.shared))

    def ready(self) -> bool:
        return self.lock.state is None and (
            self.timed or self.token not in cast(ConditionModel, self.shared).waiters
        )

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        waits = self._is_waiting(lookup)
        if lookup(self.lock) is not None or (waits and not self.timed):
            return None
        touched = ((self.shared, waits), (self.lock, True))
        return touched + dial.passing if waits else touched

    def objects(self) -> tuple[Shared, ...]:
        return self.shared, self.lock

    def takes(self) -> Object:
        return self.lock

    def outcome(self) -> str:
        waits = self.token in cast(ConditionModel, self.shared).waiters
        return describe_failure(True) if waits else ""

    def waits_for(self, purpose: Purpose | None) -> str:
        model = cast(ConditionModel, self.shared)
        if self.token not in model.waiters:
            return f"to acquire {self.lock} again after it was notified"
        if purpose is None:
            return f"for a notification of {model}"
        model.sort, model.origin = purpose.sort, model.origin or purpose.origin
        return purpose.text.format(model)

    def holder(self) -> str | None:
        waits = self.token in cast(ConditionModel, self.shared).waiters
        return None if waits else cast("str | None", self.lock.state)


Notify = make_operation("notify")
"""Wake some of the waiters, or all."""


def _init(self: Any, lock: Any = None) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Condition, "__init__")(self, lock)
        return
    original(threading.Condition, "__init__")(self, RLock() if lock is None else lock)
    create_model(run, self, ConditionModel())


def _controlled_lock(run: Scheduler, condition: Any) -> Any:
    """Return the lock of a condition, put under control if it existed before; None if it is not
    one that can be."""
    lock = condition._lock
    if type(lock) in (Lock, RLock):
        return lock
    assert run.program is not None
    with_real_locks(run, run.program.take_over, vars(condition), "condition.")
    lock = condition._lock
    return lock if type(lock) in (Lock, RLock) else None


def _wait(self: Any, timeout: float | None = None) -> bool:
    run = session.current
    lock = _controlled_lock(run, self) if run.ident == get_ident() else None
    if lock is None:
        return cast(bool, original(threading.Condition, "wait")(self, timeout))
    me = run.running
    if not lock.is_mine(me.path):
        raise RuntimeError("cannot wait on un-acquired lock")
    model = model_of(run, self, ConditionModel)
    run.point(Wait(model, lock))
    me.waits += 1
    token = (me.path, me.waits)
    model.state = (*model.waiters, token)
    saved = lock.give_up()
    run.point(Wake(model, lock, token, timeout))
    lock.take_back(me.path, saved)
    if token not in model.waiters:
        return True
    model.state = tuple(other for other in model.waiters if other != token)
    spend(run, timeout or 0)
    return False


def _notify(self: Any, n: int = 1) -> None:
    run = session.current
    lock = _controlled_lock(run, self) if run.ident == get_ident() else None
    if lock is None:
        original(threading.Condition, "notify")(self, n)
        return
    if not lock.is_mine(run.running.path):
        raise RuntimeError("cannot notify on un-acquired lock")
    model = model_of(run, self, ConditionModel)
    run.point(Notify(model))
    woken = model.waiters[: max(n, 0)]
    model.state = model.waiters[len(woken) :]
    if self._waiters and len(woken) < n:  # threads that nobody controls
        original(threading.Condition, "notify")(self, n - len(woken))


def _notify_all(self: Any) -> None:
    model: ConditionModel | None = self.__dict__.get(ATTRIBUTE)
    self.notify(len(self._waiters) + (0 if model is None else len(model.waiters)))


def _enter(self: Any) -> Any:
    run = session.current
    if type(self._lock) not in (Lock, RLock) and run.ident == get_ident():
        _controlled_lock(run, self)
    return self._lock.__enter__()


def _repr(self: Any) -> str:
    run = session.current
    if run.ident != get_ident():
        return cast(str, original(threading.Condition, "__repr__")(self))
    lock = repr(self._lock)
    model = model_of(run, self, ConditionModel)
    run.point(LookInside(model))
    return f"<Condition({lock}, {len(model.waiters)})>"


def look_at_lock(owner: type, attribute: str) -> Look:
    """Make a look for what code of the library changes while it holds the lock of a condition,
    which it keeps in an attribute."""

    def look(run: Scheduler, thing: Any, name: str) -> None:
        lock: Any = getattr(getattr(thing, attribute, None), "_lock", None)
        if type(lock) not in (Lock, RLock):
            unobserved.note(f"{owner.__name__}.{name}")
            return
        if lock.epoch != run.epoch:
            adopt(run, lock)
        run.point(LookLocked(lock))

    return look


def _install(patches: Patches) -> None:
    patches.methods(
        threading.Condition,
        __init__=_init,
        __enter__=_enter,
        wait=_wait,
        notify=_notify,
        notify_all=_notify_all,
        __repr__=_repr,
    )
    patches.attribute(threading, "_time", make_virtual(time.monotonic))


PRIMITIVE = Primitive(
    words=("condition",),
    classes=(threading.Condition,),
    models=(ConditionModel,),
    private={threading.Condition: {"_waiters": refuse_to_show(threading.Condition)}},
    parts=frozenset({"_lock"}),
    install=_install,
)
