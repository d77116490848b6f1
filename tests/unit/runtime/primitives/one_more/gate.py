"""A primitive that is not there: a gate that is opened once and lets everybody pass from then on.

`test_one_more_primitive` adds this file, and no other, to a copy of Mazurka.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Hashable
from typing import Any

from mazurka.runtime.core.operations import Purpose, RealOperation, Waiting
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.primitive import (
    LookInside,
    PatchedModel,
    Primitive,
    create_model,
    model_of,
    with_real_locks,
)


class Gate:
    """The real thing, for threads that nobody controls."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._is_open = False

    def open(self) -> None:
        with self._condition:
            self._is_open = True
            self._condition.notify_all()

    def enter(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._is_open)


class GateModel(PatchedModel):
    """A gate.  The state is whether it is open."""

    __slots__ = ()
    kind = "gate"

    def __init__(self) -> None:
        super().__init__()
        self.state: Hashable = False

    def refresh(self) -> None:
        self.state = self.owner._is_open

    def restore(self, state: Hashable) -> None:
        self.state = self.owner._is_open = state


class OpenGate(RealOperation):
    """Let everybody pass."""

    __slots__ = ()
    kind = "open"


class EnterGate(Waiting):
    """Pass through a gate that is open."""

    __slots__ = ()
    kind = "enter"
    writes = False

    def lets(self, state: Hashable) -> bool:
        return state is True

    def waits_for(self, purpose: Purpose | None) -> str:
        return f"for {self.shared} to be opened"


def _init(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(Gate, "__init__")(self)
        return
    with_real_locks(run, original(Gate, "__init__"), self)
    create_model(run, self, GateModel())


def _open(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(Gate, "open")(self)
        return
    model = model_of(run, self, GateModel)
    run.point(OpenGate(model))
    model.state = True
    if model.owner is None:
        self._is_open = True
    else:  # threads that nobody controls may wait for it
        with_real_locks(run, original(Gate, "open"), self)


def _enter(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(Gate, "enter")(self)
        return
    run.point(EnterGate(model_of(run, self, GateModel)))


def _look(run: Scheduler, gate: Any, name: str) -> None:
    run.point(LookInside(model_of(run, gate, GateModel)))


def _install(patches: Patches) -> None:
    patches.methods(Gate, __init__=_init, open=_open, enter=_enter)


PRIMITIVE = Primitive(
    words=("gate",),
    classes=(Gate,),
    models=(GateModel,),
    private={Gate: {"_is_open": _look}},
    parts=frozenset({"_condition"}),
    install=_install,
)
