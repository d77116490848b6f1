"""`threading.Event` and the semaphores under control, their methods replaced in place.

To wait for an event that is not set is two operations, as in CPython: the thread joins the waiters,
and goes on when it has been woken, even if the event was cleared again in between.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias, cast

from mazurka.runtime.core.naming import ATTRIBUTE, Owned, create, model_of, spend
from mazurka.runtime.core.operations import Attempt, Object, Step, Waiting
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.waiting import purpose_of
from mazurka.stateless.runs import Lookup, Touch

EventState: TypeAlias = tuple[bool, tuple[Hashable, ...]]
"""Whether it is set, and who waits."""


class EventModel(Owned):
    __slots__ = ()
    kind = "event"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.state: Hashable = (False, ())

    @property
    def now(self) -> EventState:
        return cast(EventState, self.state)

    def refresh(self) -> None:
        self.state = (self.owner._flag, ())

    def restore(self, state: Hashable) -> None:
        self.state = state
        self.owner._flag = self.now[0]


class Set(Step):
    __slots__ = ()
    kind = "set"


class Clear(Step):
    __slots__ = ()
    kind = "clear"


class IsSet(Step):
    __slots__ = ()
    kind = "is_set"
    writes = False


class Arrive(Step):
    """See that the event is set, or join the waiters."""

    __slots__ = ()
    kind = "wait"

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return not cast(EventModel, self.shared).now[0]

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return ((self.shared, not cast(EventState, lookup(self.shared))[0]),)


class Woken(Waiting):
    __slots__ = ("token",)
    kind = "wake"
    writes = False

    def __init__(self, shared: Object, token: Hashable) -> None:
        self.shared = shared
        self.token = token

    def lets(self, state: Hashable) -> bool:
        return self.token not in cast(EventState, state)[1]

    def waits_for(self) -> str:
        purpose = purpose_of(self)
        return purpose.text if purpose is not None else f"for {self.shared} to be set"


class SeenSet(Waiting):
    """What a timed wait hopes for."""

    __slots__ = ()
    kind = "wait"
    writes = False

    def lets(self, state: Hashable) -> bool:
        return cast(EventState, state)[0]


def _controls(run: Scheduler, event: Any) -> bool:
    """The event inside every thread object stays what it is."""
    return run.ident == get_ident() and event.__dict__.get(ATTRIBUTE) is not False


def _event_init(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Event, "__init__")(self)
        return
    run.ident, ident = 0, run.ident
    original(threading.Event, "__init__")(self)
    run.ident = ident
    create(run, self, EventModel())


def _is_set(self: Any) -> bool:
    run = session.current
    if not _controls(run, self):
        return cast(bool, self._flag)
    model = model_of(run, self, EventModel)
    run.point(IsSet(model))
    return model.now[0]


def _set(self: Any) -> None:
    run = session.current
    if not _controls(run, self):
        original(threading.Event, "set")(self)
        return
    model = model_of(run, self, EventModel)
    run.point(Set(model))
    model.state = (True, ())
    if model.owner is None:
        self._flag = True
    else:  # threads that nobody controls may wait for it
        run.ident, ident = 0, run.ident
        original(threading.Event, "set")(self)
        run.ident = ident


def _clear(self: Any) -> None:
    run = session.current
    if not _controls(run, self):
        original(threading.Event, "clear")(self)
        return
    model = model_of(run, self, EventModel)
    run.point(Clear(model))
    model.state = (False, model.now[1])
    self._flag = False


def _wait(self: Any, timeout: float | None = None) -> bool:
    run = session.current
    if not _controls(run, self):
        return cast(bool, original(threading.Event, "wait")(self, timeout))
    model = model_of(run, self, EventModel)
    if timeout is not None:
        run.point(Attempt(SeenSet(model), timeout > 0))
        if not model.now[0]:
            spend(run, timeout)
        return model.now[0]
    run.point(Arrive(model))
    is_set, waiters = model.now
    if not is_set:
        me = run.running
        me.waits += 1
        token = (me.path, me.waits)
        model.state = (False, (*waiters, token))
        run.point(Woken(model, token))
    return True


class SemaphoreModel(Owned):
    """The state is the value."""

    __slots__ = ()
    kind = "semaphore"

    def refresh(self) -> None:
        self.state = self.owner._value

    def restore(self, state: Hashable) -> None:
        self.state = self.owner._value = state


class AcquireUnit(Waiting):
    __slots__ = ()
    kind = "acquire"

    def lets(self, state: Hashable) -> bool:
        return cast(int, state) > 0

    def waits_for(self) -> str:
        return f"to acquire {self.shared}, whose value is 0"


class ReleaseUnits(Step):
    __slots__ = ()
    kind = "release"


def _semaphore_init(self: Any, value: int = 1) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Semaphore, "__init__")(self, value)
        return
    run.ident, ident = 0, run.ident
    try:
        original(threading.Semaphore, "__init__")(self, value)
    finally:
        run.ident = ident
    create(run, self, SemaphoreModel()).state = value


def _acquire(self: Any, blocking: bool = True, timeout: float | None = None) -> bool:
    run = session.current
    if run.ident != get_ident():
        return cast(bool, original(threading.Semaphore, "acquire")(self, blocking, timeout))
    if not blocking and timeout is not None:
        raise ValueError("can't specify timeout for non-blocking acquire")
    model = model_of(run, self, SemaphoreModel)
    if blocking and timeout is None:
        run.point(AcquireUnit(model))
    else:
        run.point(Attempt(AcquireUnit(model), timeout is not None and timeout > 0))
        if cast(int, model.state) <= 0:
            spend(run, timeout or 0)
            return False
    self._value -= 1
    model.state = self._value
    return True


def _release(self: Any, n: int = 1) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Semaphore, "release")(self, n)
        return
    if n < 1:
        raise ValueError("n must be one or more")
    model = model_of(run, self, SemaphoreModel)
    run.point(ReleaseUnits(model))
    limit = getattr(self, "_initial_value", None)
    if limit is not None and self._value + n > limit:
        raise ValueError("Semaphore released too many times")
    self._value += n
    model.state = self._value


def _bounded_release(self: Any, n: int = 1) -> None:
    if session.current.ident != get_ident():
        original(threading.BoundedSemaphore, "release")(self, n)
    else:
        _release(self, n)


def install(patches: Patches) -> None:
    patches.methods(
        threading.Event,
        __init__=_event_init,
        is_set=_is_set,
        set=_set,
        clear=_clear,
        wait=_wait,
    )
    patches.methods(
        threading.Semaphore,
        __init__=_semaphore_init,
        __enter__=_acquire,
        acquire=_acquire,
        release=_release,
    )
    patches.methods(threading.BoundedSemaphore, release=_bounded_release)
