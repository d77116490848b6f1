"""`threading.Semaphore` and `threading.BoundedSemaphore` under control, patched in place."""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Hashable
from typing import Any, cast

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.operations import Object, Purpose, TryOperation, Waiting, make_operation
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.primitive import (
    LookInside,
    PatchedModel,
    Primitive,
    create_model,
    model_of,
    show_after,
    with_real_locks,
)


class SemaphoreModel(PatchedModel):
    """A semaphore.  The state is its value."""

    __slots__ = ()
    kind = "semaphore"

    def refresh(self) -> None:
        self.state = self.owner._value

    def restore(self, state: Hashable) -> None:
        if self.state != state and self.told != self.epoch:
            self.state = self.owner._value = state


class AcquireUnit(Waiting):
    """Take a unit of a semaphore that has any."""

    __slots__ = ()
    kind = "acquire"

    def lets(self, state: Hashable) -> bool:
        return cast(int, state) > 0

    def takes(self) -> Object:
        return self.shared

    def waits_for(self, purpose: Purpose | None) -> str:
        return f"to acquire {self.shared}, whose value is 0"


ReleaseUnits = make_operation("release")
"""Give units back."""


def _init(self: Any, value: int = 1) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Semaphore, "__init__")(self, value)
        return
    with_real_locks(run, original(threading.Semaphore, "__init__"), self, value)
    create_model(run, self, SemaphoreModel()).state = value


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
        run.point(TryOperation(AcquireUnit(model), timeout or 0.0))
        if cast(int, model.state) <= 0:
            spend(run, timeout or 0)
            return False
    self._value = model.state = self._value - 1
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
    value = self._value + n
    limit = self.__dict__.get("_initial_value")
    if limit is not None and value > limit:
        raise ValueError("Semaphore released too many times")
    model.state = value
    if model.owner is None:
        self._value = value
    else:  # threads that nobody controls may wait for it
        if self._cond._waiters:
            model.told = run.epoch
        with_real_locks(run, original(threading.Semaphore, "release"), self, n)


def _bounded_release(self: Any, n: int = 1) -> None:
    if session.current.ident != get_ident():
        original(threading.BoundedSemaphore, "release")(self, n)
    else:
        _release(self, n)


def _look(run: Scheduler, semaphore: Any, name: str) -> None:
    run.point(LookInside(model_of(run, semaphore, SemaphoreModel)))


def _install(patches: Patches) -> None:
    bounded = threading.BoundedSemaphore
    patches.methods(
        threading.Semaphore,
        __init__=_init,
        __enter__=_acquire,
        acquire=_acquire,
        release=_release,
        __repr__=show_after(_look, threading.Semaphore, "_value"),
    )
    patches.methods(
        bounded, release=_bounded_release, __repr__=show_after(_look, bounded, "_value")
    )


PRIMITIVE = Primitive(
    words=("semaphore",),
    classes=(threading.Semaphore, threading.BoundedSemaphore),
    models=(SemaphoreModel,),
    private={threading.Semaphore: {"_value": _look}},
    parts=frozenset({"_cond"}),
    install=_install,
)
