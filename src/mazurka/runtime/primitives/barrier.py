"""`threading.Barrier` under control.

It is written in Python over a condition, and works as it is; only its text, its private attributes
and what is told of those who wait at it need anything.
"""

from __future__ import annotations

import threading
from types import CodeType, FrameType

from mazurka.report.words import counted
from mazurka.runtime.core.operations import Purpose
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.primitives.condition import look_at_lock
from mazurka.runtime.primitives.primitive import Primitive, show_after

_ARRIVALS: tuple[CodeType, ...] = tuple(
    getattr(threading.Barrier, name).__code__ for name in ("_wait", "_enter")
)
_look = look_at_lock(threading.Barrier, "_cond")


def _explain(frame: FrameType) -> Purpose:
    """Tell how many have arrived, for a thread that stands inside `Barrier.wait`."""
    barrier = frame.f_locals["self"]
    arrived, parties = barrier._count, barrier._parties
    if barrier._state != 0:
        return Purpose("barrier", "to enter {}, which others are still leaving")
    have = "has" if arrived == 1 else "have"
    text = f"at {{}}, where {arrived} of {counted(parties, 'thread')} {have} arrived"
    return Purpose("barrier", text)


def _install(patches: Patches) -> None:
    patches.methods(threading.Barrier, __repr__=show_after(_look, threading.Barrier, "_state"))


PRIMITIVE = Primitive(
    words=("barrier",),
    classes=(threading.Barrier,),
    models=(),
    private={
        threading.Barrier: dict.fromkeys(("_state", "_count", "broken", "n_waiting"), _look),
    },
    parts=frozenset({"_cond"}),
    purposes=dict.fromkeys(_ARRIVALS, _explain),
    install=_install,
)
