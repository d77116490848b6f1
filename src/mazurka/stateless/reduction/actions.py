"""What a reduction sees of a program: the action that each thread would take next.

Sleep sets and dynamic partial-order reduction ask more than who can go on.  They ask what each
thread would do, here and after other steps than those that were taken (`Foresight`).  A program may
answer itself, as models do (`ir_execution`); for all others the answers come from the recording of
the present run (`foresight`), in which every operation says what it would touch in any state.

What a reduction relies on, besides what `runs` promises:

1. *Exact footprints.*  An action names the objects that it reads and writes if taken now.  What a
   thread does next, whether it can, and what it touches depends on its own past and on what it
   reads.  So actions without a **conflict** (one object, two threads, at least one write) commute,
   and neither enables or disables the other.
2. *An attempt reads.*  A thread that cannot move names what it looked at: a waiting thread reads
   the lock it waits for.  Where an action would change by what another thread does, the two
   conflict both before and after it is done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from mazurka.stateless.runs import Operation

SharedObject: TypeAlias = Hashable
"""The stable name of anything that threads share: a variable, a lock, a thread's life."""
Move: TypeAlias = int
"""A thread and its choice (`runs.move_of`)."""
Events: TypeAlias = int
"""A set of events of the present run: bit i is the event at position i."""
STUCK = -1
"""The choice that an attempt names: none of those there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What a thread would do next, or what it looks at while it cannot.

    Two actions are the same only if they are one object: a thread's actions are kept for as long
    as nobody has changed what they read, and searches save work by that.
    """

    thread: int
    move: Move
    reads: frozenset[SharedObject]
    writes: frozenset[SharedObject]
    """Empty where the thread cannot move: an attempt changes nothing."""
    enabled: bool = True
    may_block: bool = False
    """Whether others decide if the thread can move at this point of its life."""
    fixed: bool = True
    """Whether every attempt from this point of its life touches the same objects (if it cannot
    move, at most those), whatever others do."""
    watched: frozenset[SharedObject] | None = None
    """Everything that any attempt from this point may read; None if nobody knows.  Needed only
    where the action may block or is not fixed."""

    life: SharedObject | None = None
    """What stands for the thread's existence, where others begin it: an object that its first
    action reads and its creator writes.  What the thread does before that is another matter, so
    `may_block` and `fixed` say nothing about it."""

    def conflicts(self, other: Action) -> bool:
        """Whether it matters which of the two comes first, as far as objects tell."""
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )

    def depends(self, other: Action) -> bool:
        """Dependence: of one thread, or in conflict."""
        return self.thread == other.thread or not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )


class Foresight(ABC):
    """What the threads of the present run would do, now and at other prefixes of it."""

    @abstractmethod
    def actions(self) -> dict[int, tuple[Action, ...]]:
        """What each thread would do now, in a stable order: one action for each choice, or one
        attempt, or none."""

    @abstractmethod
    def preview(self, depth: int, events: Events, thread: int) -> tuple[Action, ...]:
        """What the thread would do after the first `depth` steps and then the given events, which
        come later in the run and need nothing that is left out."""

    def arrive(self, pending: Sequence[Operation | None]) -> Sequence[SharedObject]:
        """Note where the last step has led; the lives of the threads that it has begun."""
        return ()

    def take(self, action: Action) -> None:  # noqa: B027 - for recordings
        """Note that an action is going to be taken."""

    def cut(self, depth: int) -> None:  # noqa: B027 - for recordings
        """Forget all steps but so many: the next run parts from this one there."""

    def renew(self, pending: Sequence[Operation | None]) -> None:  # noqa: B027 - for recordings
        """Note that the run has come to where the one before was cut."""

    def settle(self, pending: Sequence[Operation | None]) -> Sequence[SharedObject]:
        """The same at the end of the run, while objects are as it left them; may be called
        twice."""
        return ()

    def rank(self, enabled: list[Action]) -> list[Action]:
        """Actions that can be taken, those first that had better be."""
        return enabled

    def find_simplest(self, schedule: Sequence[Move]) -> tuple[tuple[Move, ...], int]:
        """A schedule of the present run, and a number of preemptions with which it gets by."""
        switches = sum(one != other for one, other in pairwise(schedule))
        return tuple(schedule), switches
