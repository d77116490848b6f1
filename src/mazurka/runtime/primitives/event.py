"""`threading.Event` under control, its methods replaced in place.

To wait for an event that is not set is two operations, as in CPython: the thread joins the waiters,
and goes on when it has been woken, even if the event was cleared again in between.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias, cast

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.operations import (
    Object,
    Purpose,
    RealOperation,
    TryOperation,
    Waiting,
    make_operation,
)
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.primitive import (
    ATTRIBUTE,
    PatchedModel,
    Primitive,
    create_model,
    model_of,
    show_after,
    with_real_locks,
)
from mazurka.stateless.runs import Lookup, Touch

EventState: TypeAlias = tuple[bool, tuple[Hashable, ...]]
"""Whether it is set, and who waits."""


class EventModel(PatchedModel):
    """An event: whether it is set, and who waits for it."""

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
        if self.state != state and self.told != self.epoch:
            self.state = state
            self.owner._flag = self.now[0]


SetEvent = make_operation("set")
"""Set an event, and wake all who wait for it."""
ClearEvent = make_operation("clear")
"""Clear an event."""
IsSet = make_operation("is_set", writes=False)
"""See whether an event is set."""


class Arrive(RealOperation):
    """See that the event is set, or join the waiters."""

    __slots__ = ()
    kind = "wait"

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return not cast(EventModel, self.shared).now[0]

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        state: Any = lookup(self.shared)
        return ((self.shared, not state[0]),)


class Woken(Waiting):
    """Go on after an event has been set, whatever has become of it since."""

    __slots__ = ("token",)
    kind = "wake"
    writes = False

    def __init__(self, shared: Object, token: Hashable) -> None:
        self.shared = shared
        self.token = token

    def lets(self, state: Hashable) -> bool:
        waiters: Any = state[1]  # type: ignore[index]
        return self.token not in waiters

    def waits_for(self, purpose: Purpose | None) -> str:
        return purpose.text if purpose is not None else f"for {self.shared} to be set"


class SeenSet(Waiting):
    """See that an event is set: what a timed wait hopes for."""

    __slots__ = ()
    kind = "wait"
    writes = False

    def lets(self, state: Hashable) -> bool:
        return cast(EventState, state)[0]


def _controls(run: Scheduler, event: Any) -> bool:
    """Whether an event is under control; the one inside every thread object is not."""
    return run.ident == get_ident() and event.__dict__.get(ATTRIBUTE) is not False


def _init(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Event, "__init__")(self)
        return
    with_real_locks(run, original(threading.Event, "__init__"), self)
    create_model(run, self, EventModel())


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
    run.point(SetEvent(model))
    model.state = (True, ())
    if model.owner is None:
        self._flag = True
    else:  # threads that nobody controls may wait for it
        if self._cond._waiters:
            model.told = run.epoch
        with_real_locks(run, original(threading.Event, "set"), self)


def _clear(self: Any) -> None:
    run = session.current
    if not _controls(run, self):
        original(threading.Event, "clear")(self)
        return
    model = model_of(run, self, EventModel)
    run.point(ClearEvent(model))
    model.state = (False, model.now[1])
    self._flag = False


def _wait(self: Any, timeout: float | None = None) -> bool:
    run = session.current
    if not _controls(run, self):
        return cast(bool, original(threading.Event, "wait")(self, timeout))
    model = model_of(run, self, EventModel)
    if timeout is not None:
        run.point(TryOperation(SeenSet(model), timeout))
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


def _look(run: Scheduler, event: Any, name: str) -> None:
    if event.__dict__.get(ATTRIBUTE) is not False:  # the one inside of a thread: see `thread`
        run.point(IsSet(model_of(run, event, EventModel)))


def _install(patches: Patches) -> None:
    patches.methods(
        threading.Event,
        __init__=_init,
        is_set=_is_set,
        set=_set,
        clear=_clear,
        wait=_wait,
        __repr__=show_after(_look, threading.Event, "_flag"),
    )


PRIMITIVE = Primitive(
    words=("event",),
    classes=(threading.Event,),
    models=(EventModel,),
    private={threading.Event: {"_flag": _look}},
    parts=frozenset({"_cond"}),
    install=_install,
)
