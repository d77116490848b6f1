"""Garbage collection while an exploration goes on: between runs only, and among new objects."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Final

YOUNG: Final = 1
"""The oldest generation that is collected before and after an exploration."""
_FROZEN_AT_START: Final = 2_000
"""Less than any program has, and more than any interpreter freezes before it runs one."""


def collect_and_freeze() -> None:
    """Collect young objects, which a test before this one has left, and freeze the rest: it costs
    nothing until the exploration ends."""
    gc.collect(YOUNG)
    gc.freeze()


class PausedCollection:
    """Keeps the collector from running by itself: finalizers would run in any thread, at any
    point.

    A threshold of 0 does that.  Programs ask whether the collector is enabled, and hardly any asks
    for its thresholds."""

    def __init__(self) -> None:
        self._pauses = 0
        self._thresholds = gc.get_threshold()
        self.has_frozen = False
        """Whether objects are frozen for an exploration."""

    def pause(self, freeze: Callable[[], None] = collect_and_freeze) -> None:
        """Stop collecting, and freeze what there is, unless the program has done so."""
        self._pauses += 1
        if self._pauses == 1:
            self._thresholds = gc.get_threshold()
            gc.set_threshold(0)
            if not is_frozen():
                self.has_frozen = True
                freeze()

    def resume(self) -> None:
        """Collect again, when all that have asked for a pause have said so."""
        self._pauses -= 1
        if self._pauses == 0:
            if self.has_frozen:
                self.has_frozen = False
                gc.unfreeze()
            gc.set_threshold(*self._thresholds)


collection: Final = PausedCollection()


def is_frozen() -> bool:
    """Whether objects have been put aside; Python 3.12 does so with some of its own.  The
    interpreter counts them one by one."""
    return collection.has_frozen or gc.get_freeze_count() > _FROZEN_AT_START
