"""Waits for an object to change, where C code that cannot go on fails or does not come to that.

A thread has found that it cannot do something now, and will try again when the object has changed.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Hashable
from typing import Any

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.operations import TryOperation, Waiting
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.accesses import Structure
from mazurka.runtime.sharing.names import see


class AwaitChange(Waiting):
    """Wait until an object is no longer what a thread has found."""

    __slots__ = ("_found",)
    kind = "wait for a change of"
    writes = False

    def __init__(self, shared: Structure, found: Hashable) -> None:
        super().__init__(shared)
        self._found = found

    def lets(self, state: Hashable) -> bool:
        return state != self._found


def wait_for_change(thing: Any, seconds: float | None = None) -> bool:
    """Wait for a change of what the running thread has just used in vain; tell whether there was
    one before the time was over."""
    run = session.current
    structure = see(thing).whole.shared
    if structure is None or run.ident != get_ident() or run.over:
        return False  # without scheduling points, which the search learns, nobody tells of changes
    count, keys = structure.state
    structure.state = before = (count - 1, keys)  # what has failed has changed nothing
    wanted = AwaitChange(structure, before)
    run.point(wanted if seconds is None else TryOperation(wanted, seconds))
    if structure.state != before:
        return True
    spend(run, seconds or 0.0)
    return False
