"""Rounds of `while` statements: what rewritten code calls at the beginning of each.

Most loops that wait are recognised by what they read (`spinning`).  Two kinds are not.

* A loop in which a thread goes round and round without reading anything that threads share: what it
  looks at is bound once for all.  Its place is learned like that of an access (`Learned.points`),
  and each round of it is an operation from then on, which touches nothing.
* A loop whose rounds step through something: `while not all(part.done for part in parts)`.  Each
  step moves an iterator that no frame shows.  But an iterator that is younger than the round is
  gone when the round is over: if a thread has read only, and all that it has moved is as young as
  that, it would go the same round again.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from types import FrameType
from typing import Any, NamedTuple

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.operations import Idle
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.spinning import NEVER, Rounds, Turn, is_same, same_values, stack_of
from mazurka.runtime.core.tasks import Task
from mazurka.runtime.python.opaque import opaque_parts
from mazurka.runtime.sharing.locations import LIMIT, learned, points

PATIENCE = 256
"""After how many rounds somebody looks what a thread is doing."""


class Again(Idle):
    """One more round of a loop."""

    __slots__ = ("site",)
    kind = "loop"

    def __init__(self, site: int) -> None:
        self.site = site

    def waits_for(self) -> str:
        return "to go round a loop"


class Watched(NamedTuple):
    """A thread in the middle of many rounds."""

    site: int
    frame: FrameType
    own: dict[str, Any]
    operations: int
    """How many there had been, of all threads."""
    reads: int
    """How many since then, without points."""
    turns: int


def begin_round(site: int) -> None:
    """The running thread begins a round."""
    run = session.current
    if run.ident != get_ident():
        return
    me = run.running
    me.turns = turns = me.turns + 1
    rounds = me.rounds
    if rounds is not None:
        rounds.turns = turns
    if site in points:
        run.point(Again(site))
    elif rounds is not None and rounds.base:
        _come_round(rounds, site, turns)
    if not turns % PATIENCE:
        _look(me, site)


def _come_round(rounds: Rounds, site: int, turns: int) -> None:
    """Wait if this round would be the same as the one before."""
    stack = stack_of(sys._getframe(1), turns)
    before, oldest = rounds.turn, rounds.oldest
    rounds.turn, rounds.oldest = Turn(site, turns, len(rounds.reads), stack), NEVER
    if (
        before is None
        or before.site != site
        or before.reads == len(rounds.reads)
        or oldest < before.turns
        or not is_same(before.stack, stack)
    ):
        return
    operation = Again(site)
    waiting = rounds.come_round(before.reads, operation)
    if waiting is not operation:
        session.current.point(waiting)


def _look(me: Task, site: int) -> None:
    """See whether a thread does anything in its rounds."""
    rounds = me.rounds
    if rounds is None:
        rounds = me.rounds = Rounds()
    frame = sys._getframe(2)
    before, oldest = rounds.watched, rounds.oldest_watched
    at = Watched(site, frame, dict(frame.f_locals), now.count, now.idle, me.turns)
    rounds.watched, rounds.oldest_watched = at, NEVER
    if (
        before is None
        or rounds.polls
        or (before.site, before.operations) != (site, now.count)
        or before.frame is not frame
        or oldest < before.turns
        or not same_values(before.own, at.own)
        or opaque_parts(at.own.values())
    ):
        return
    if now.idle > before.reads:
        now.idle = LIMIT  # what it reads next is what it waits for
    else:
        learned.learn(site)
