"""Which accesses need scheduling points: those that another thread's can come before or after.

Every access of instrumented code is watched; few are scheduling points.  The set of **points** is
a set of places in the source.  It begins empty and grows: wherever a run shows two accesses to one
location by two threads, at least one a write and at least one not a point, that are not ordered by
the happens-before of the run's operations, both places become points, and the exploration begins
anew (`Learned.news`).  Accesses at points are operations like all others, and order what comes
after them.

*Why this is sound.*  Let an exploration with bound k end without learning anything.  Suppose some
execution with at most k preemptions, which may lie before any access, has two conflicting accesses
that are unordered and not both points; take the first such pair (a, b) in it.  Up to b, every
access that is no point is ordered with everything it conflicts with, so it can be moved to where
the last operation of its thread was performed, and so can b, to before a if need be.  No preemption
is added: one that lay before such an access now lies before its thread's next operation.  Run on
from there without preemptions.  The result is an execution whose preemptions lie at operations
only, at most k; the exploration has seen its partial order, in which a and b occur, unordered.  So
it would have learned.  Hence there is no such pair at all, every execution can be moved into the
form that the exploration covers, and nothing is lost by leaving the other accesses without points.

A location that several threads only read, or that a lock protects, costs no point.  One that a
thread reads again and again, without writing anything and without coming to an operation, may be
what it waits for; its place becomes a point, too (`suspect`), so that loops which wait are seen to
wait.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.frame_variables import read_variables
from mazurka.runtime.core.moment import PATIENCE, now
from mazurka.runtime.core.operations import dial
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.spinning import same_values
from mazurka.stateless.runs import ObjectName, Touch

LIMIT = 100_000
"""How many before it is taken to be waiting, whatever it does with its local variables."""
PLACE: Final = "place"
"""How the news begins that there is one more place at which a point is needed."""
CHANGING_PARTIALS: Final = "partial objects"
"""How the news begins that the program may change partial objects (`python.library.partials`)."""
NOBODY = -1
SEVERAL = -2


Event: TypeAlias = tuple[int, bool, Sequence[Touch]]
"""An operation that a thread has performed: the thread, whether it is alone from then on (see
`Now.alone`), and what it touched."""


class Order:
    """The happens-before of the present run's operations; a set of events is an integer's bits.

    The run is written down as it goes; what comes before what is worked out when somebody asks.
    Where a run repeats the one before, what that one has written down stays, and nobody needs to
    ask: whatever there was to learn has been learned then.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._joins: list[tuple[int, int, int]] = []
        """Those that waited for the end of a thread, who did, and for whom it had waited before."""
        self._joined: dict[int, int] = {}
        """By thread: those for whose ends it has waited, itself or by those for which it waited."""
        self._done = 0
        """How many events have been worked out."""
        self._of: list[list[int]] = []
        """By thread: its events."""
        self._past: list[int] = []
        """By event: what has happened by then, for its thread."""
        # By object: what has happened by each of its writes, and by its reads up to each of them.
        self._writes: dict[ObjectName, list[int]] = {}
        self._reads: dict[ObjectName, list[int]] = {}

    def begin(self, followed: int) -> None:
        """Begin a run with so many steps of the one before."""
        self._forget(followed)
        del self.events[followed:]
        while self._joins and self._joins[-1][0] >= followed:
            _, thread, before = self._joins.pop()
            self._joined[thread] = before

    def take(self, thread: int, touches: Sequence[Touch], alone: bool = False) -> None:
        """Write down an operation that a thread performs now."""
        self.events.append((thread, alone, touches))
        now.alone = alone
        now.repeats = False

    def repeat(self, event: int) -> None:
        """Perform an operation that has been written down in the run before."""
        now.alone = self.events[event][1]

    def join(self, thread: int, joined: int) -> bool:
        """Note that the next event waits for the end of a thread; False if that has never begun."""
        if joined == NOBODY:
            return False
        before = self._joined.get(thread, 0)
        self._joins.append((len(self.events), thread, before))
        self._joined[thread] = before | 1 << joined | self._joined.get(joined, 0)
        return True

    def _forget(self, count: int) -> None:
        """Forget what has been worked out of later events than so many."""
        while self._done > count:
            self._done -= 1
            thread, _, touches = self.events[self._done]
            self._of[thread].pop()
            self._past.pop()
            for shared, written in touches:
                (self._writes if written else self._reads)[shared.name].pop()

    def _work_out(self) -> None:
        writes, reads = self._writes, self._reads
        for number in range(self._done, len(self.events)):
            thread, _, touches = self.events[number]
            while thread >= len(self._of):
                self._of.append([])
            mine = self._of[thread]
            past = 1 << number | (self._past[mine[-1]] if mine else 0)
            for shared, written in touches:
                if shared is _CLOCK:
                    continue  # who looks after another knows nothing of what that one did
                if before := writes.get(shared.name):
                    past |= before[-1]
                if written and (before := reads.get(shared.name)):
                    past |= before[-1]
            for shared, written in touches:
                known = (writes if written else reads).setdefault(shared.name, [])
                known.append(past | known[-1] if known else past)
            self._past.append(past)
            mine.append(number)
        self._done = len(self.events)

    def is_before(self, thread: int, count: int, other: int) -> bool:
        """Whether what a thread did after so many operations comes before what `other` does now:
        whether `other` knows of the thread's operation after that."""
        if now.repeats:
            return True  # or it would have been learned in the run before
        self._work_out()
        events, mine = self._of[thread], self._of[other]
        following = bisect_left(events, count)
        if following == len(events) or not mine:
            return False
        return self._past[mine[-1]] >> events[following] & 1 == 1

    def has_joined_all(self, thread: int, threads: int) -> bool:
        """Whether a thread has waited for the ends of all that have done anything; `threads` is
        how many there are at most."""
        known = self._joined.get(thread, 0) | 1 << thread
        return known.bit_count() == threads or all(known >> event[0] & 1 for event in self.events)


class Learned:
    """What is known of the program so far, for the whole exploration."""

    def __init__(self) -> None:
        self.points: set[int] = set()
        """Places whose accesses are scheduling points."""
        self.moving: set[str] = set()
        """Names of attributes that classes gain, lose or change while several threads are there."""
        self.news: list[str] = []
        """What the present run has taught; the exploration begins anew if there is anything."""
        self.ends: dict[int, str] = {}
        """By the number of a place that cannot be a point, since nothing tells before C code does
        something there, as when an object ends: what is said of it."""
        self.unordered: set[str] = set()
        """What runs of the present search have shown to happen there, and not to be ordered with
        what other threads do: nothing is proved."""

    def clear(self) -> None:
        self.points.clear()
        self.moving.clear()
        self.news.clear()
        self.unordered.clear()

    @property
    def new_places(self) -> set[int]:
        """The places at which the last run has shown that points are needed."""
        return {int(one.split()[1]) for one in self.news if one.startswith(PLACE)}

    def learn_moving(self, name: str) -> None:
        """Learn that what is called so changes while several threads are there."""
        if name not in self.moving:
            self.moving.add(name)
            self.news.append(name)

    def learn(self, site: int) -> None:
        if site in self.ends:
            self.unordered.add(self.ends[site])
        elif site not in self.points:
            self.points.add(site)
            self.news.append(f"{PLACE} {site}")


order = Order()
learned = Learned()
points = learned.points


Uses: TypeAlias = dict[tuple[int, bool], tuple[int, int]]
_CLOCK: Final = dial.clock
_NONE: Final[Uses] = {}
"""No uses, where there have never been any: most locations have none."""


class SharedLocation:
    """What a thread can touch: a variable, or a whole container.

    As long as one thread alone has used it, `owner` is that thread, and the numbers of operations
    that there had been at its last read and write are kept here; afterwards, in `uses`.
    """

    __slots__ = (
        *("direct", "owner", "point_uses", "read", "read_site", "shared", "stored"),
        *("uses", "write", "write_site"),
    )

    def __init__(self) -> None:
        self.owner = NOBODY
        self.read = self.write = self.read_site = self.write_site = -1
        self.direct = True
        """Whether it alone decides what is found there."""
        self.stored = False
        """Whether a value that is assigned to it goes there, and nothing is called for that."""
        self.shared: Any = None
        """What operations touch, once there has been one."""
        self.uses: Uses = _NONE
        """By thread and whether it wrote: when and where it last did so without a point; the last
        write of all, and what came after it."""
        self.point_uses: Uses = _NONE
        """By thread and whether it wrote: when and where it last did so at a point."""

    def use(self, site: int, written: bool) -> None:
        """Note that the running thread touches it without a scheduling point."""
        me, owner = now.thread, self.owner
        if owner == me:
            self._keep(site, written)
        elif owner == NOBODY and not self.uses and not self.point_uses:
            if not now.alone:
                self.owner = me
                self._keep(site, written)
        else:
            if owner != SEVERAL:
                self.open()
            uses = self.uses
            if not now.repeats:
                if uses:
                    self._compare(uses, site, written)
                if self.point_uses:
                    self._compare(self.point_uses, site, written)
            if written:  # whatever comes after this one comes after those, too
                uses.clear()
            uses[me, written] = (now.count, site)

    def _keep(self, site: int, written: bool) -> None:
        if written:
            self.write, self.write_site = now.count, site
        else:
            self.read, self.read_site = now.count, site

    def use_at_point(self, site: int, written: bool) -> None:
        """Note that the running thread touches it by an operation, which has been chosen."""
        if self.owner >= 0:
            self.open()
        if self.uses and not now.repeats:
            self._compare(self.uses, site, written)
        if self.point_uses is _NONE:
            self.point_uses = {}
        self.point_uses[now.thread, written] = (now.count, site)

    def _compare(self, uses: Uses, site: int, written: bool) -> None:
        """Learn that points are needed where uses of others are not ordered with this one."""
        me = now.thread
        for (thread, wrote), (count, place) in uses.items():
            if thread == me or not (wrote or written):
                continue
            if not order.is_before(thread, count, me):
                learned.learn(site)
                learned.learn(place)

    def open(self) -> None:
        """Treat it as used by several threads from now on."""
        if self.uses is _NONE:
            self.uses = {}
        if self.read >= 0 and self.owner >= 0:
            self.uses[self.owner, False] = (self.read, self.read_site)
        if self.write >= 0 and self.owner >= 0:
            self.uses[self.owner, True] = (self.write, self.write_site)
        self.owner = SEVERAL


def progress() -> None:
    """Note that the running thread moves something that its frames do not show: it is not idle."""
    session.current.running.rounds = None
    now.where = None


def step(born: int) -> None:
    """Note the step of an iterator that was made for a loop when so many rounds of other loops had
    begun: it is progress, but not to loops that have begun before (`python.iteration.loops`)."""
    rounds = session.current.running.rounds
    if rounds is not None:
        rounds.step(born)
    now.where = None


def suspect(site: int) -> None:
    """Find out whether the running thread, which has only read for a while, is waiting."""
    if (
        now.where is not None
        and now.where[0] != site
        and now.idle <= LIMIT
        and now.idle <= now.limit + PATIENCE
    ):
        return  # it has to come to the same place again
    frame = _user_frame(sys._getframe(1))
    where = (site, frame.f_code, frame.f_lasti, read_variables(frame))
    before = now.where
    if now.idle > LIMIT or (
        before is not None and before[:3] == where[:3] and same_values(before[3], where[3])
    ):
        learned.learn(site)
        now.idle = 0
        now.where = None
    elif before is None or before[0] == site or now.idle > now.limit + PATIENCE:
        now.where = where
        now.limit = now.idle


def _user_frame(frame: FrameType) -> FrameType:
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        frame = frame.f_back
    return frame


_OWN = "mazurka.runtime."
