"""How objects under control show themselves: their text says in which state they are.

So to write one out is a look at it, like the call that asks for the state.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Callable
from typing import Any, cast

from mazurka.runtime.core.naming import model_of
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.conditions import ConditionModel
from mazurka.runtime.primitives.private import Look, look_inside


def _shows(kind: type, attribute: str) -> Callable[[Any], str]:
    def shown(self: Any) -> str:
        run = session.current
        if run.ident == get_ident():
            look_inside(self, attribute)
        return cast(str, original(kind, "__repr__")(self))

    return shown


def _condition(self: Any) -> str:
    run = session.current
    if run.ident != get_ident():
        return cast(str, original(threading.Condition, "__repr__")(self))
    lock = repr(self._lock)
    model = model_of(run, self, ConditionModel)
    run.point(Look(model))
    return f"<Condition({lock}, {len(model.waiters)})>"


def install(patches: Patches) -> None:
    for kind, attribute in (
        (threading.Event, "_flag"),
        (threading.Semaphore, "_value"),
        (threading.BoundedSemaphore, "_value"),
        (threading.Barrier, "_state"),
    ):
        patches.methods(kind, __repr__=_shows(kind, attribute))
    patches.methods(threading.Condition, __repr__=_condition)
