"""Which side a step can be moved to, past the steps of other threads.

Levin, Palmer, Qadeer, Rajamani, *Sound Transaction-based Reduction without Cycle Detection*
(SPIN 2005), section 3: a right mover commutes to the right of every step of another thread, a left
mover to the left.  A step is as movable as all its accesses are: movers meet by `&`.
"""

from __future__ import annotations

import enum


class Mover(enum.IntFlag):
    NONE = 0
    RIGHT = 1
    LEFT = 2
    BOTH = 3

    @property
    def words(self) -> str:
        return ("non-mover", "right mover", "left mover", "both-mover")[self]


class MoverUse(enum.Enum):
    """How much of a mover a search makes use of."""

    FULL = "full"
    """Right and left movers: transactions as in paper 000.  Keeps assertions."""
    BLOCKING = "blocking"
    """Right movers are non-movers.  Whatever can block then ends a transaction, and deadlocks and
    races are kept, too."""
    INVISIBLE = "invisible"
    """Both-movers only: paper 002's invisible steps; all others are visible."""

    def of(self, mover: Mover) -> Mover:
        if self is MoverUse.FULL or mover is Mover.BOTH:
            return mover
        if self is MoverUse.BLOCKING:
            return mover & Mover.LEFT
        return Mover.NONE
