"""Which two actions of a run could come in the other order, and what must come before them.

A **race** is a pair of events e, f of different threads that depend on each other, with no third
event between them in the happens-before order, such that f's thread can move before e as well.  A
**reversal** is a sequence that leads from the node before e to f, without e.

Abdulla, Aronis, Jonsson, Sagonas (POPL 2014) assume that no thread ever disables another, and
footprints that do not depend on the state.  Where both are given (`Action.fixed` and not
`may_block`, and e does not begin the thread's life) the reversal is theirs: all events that do not
happen after e, then f.  Elsewhere there are two difficulties.  The thread of f can be kept waiting
by e, so that the run shows nothing but its attempt, or an f that happens long after e (of two
critical sections the release orders the acquires).  And without e, f may touch other things than it
did.

So for each *point* of a thread's life, from one event of it to the next, and each event e that
might matter to its attempts, the prefixes of the run that contain neither e nor anything after it
are searched for **openings**: prefixes after which the thread can move, with an action that depends
on e. An opening has all that happens before the thread's last event; of the rest it has only what
the attempts depend on, so that there are few: the writers of one object are a chain.  Behind the
opening all events follow that depend neither on e nor on the action.

Nothing is missed: let E be the prefix before e, and E u f a run in which e depends on nothing in u,
but on f.  If f's thread can move after E e u, there is a run with E e u f', in which e and f' are
seen to race, since f' still reads what e has changed for f, or changes what e has read.  If it
cannot, then because it reads what e has written; there is a run with E e u in it, and then those
events of u that f depends on are one of the prefixes searched.

*What attempts may read.*  Events that write something which no attempt of the thread may read need
no search.  Where nobody knows what attempts may read (`Action.watched`), it is what they are seen
to read at the prefixes that are searched, which may add events to search for, until there are no
more.  That is enough.  Let W be all that is seen, F the events before the end of the point, and T
any prefix with all that happens before the thread's last event, and with all events that come
before e in the run.  Then W has all that an attempt reads at T.  For let g be the first event of F
in the run that is not in T and writes something in W.  If there is none, an attempt at F sees what
one at T sees.  Otherwise g was searched for, with all prefixes that have what comes before g and
any of the later events that attempts depend on; among them the one that has just those which are
in T.  There an attempt sees what it sees at T.

*Choices.*  The choices of a thread exclude each other, as threads do that disable each other: e is
the choice that was made, and the openings lead to another one, d.  It is not enough to explore d at
the node before e.  What comes between e and d in another run may depend on d alone; and d, or all
that could begin such a run, may sleep at the node for the sake of runs with other choices.  What
begins with d need not be found again where d is going to be explored, or sleeps.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from mazurka.stateless.reduction.actions import Action, Events, Foresight, Move
from mazurka.stateless.reduction.sleep_sets import SleepingNode
from mazurka.stateless.reduction.trace import EventOrder, bits, up_to


@dataclass(frozen=True, slots=True)
class Reversal:
    """A sequence to be run from the node before the event at `position`.  Its last action alone
    depends on that event."""

    position: int
    sequence: list[Action]


@dataclass(frozen=True, slots=True)
class _Point:
    """A stretch of a thread's life: from its last event to its next, or to the end of the run."""

    thread: int
    action: Action
    """The action that ended it, or an attempt at the end of the run."""
    end: int
    """The position of that action, or the length of the run."""


def find_reversals(
    trace: EventOrder, last: SleepingNode, foresight: Foresight, fresh: int = 0
) -> Iterator[Reversal]:
    """All reversals of a run that earlier runs with the same first `fresh` events did not have."""
    for position, action in enumerate(trace.actions):
        if action.fixed and not action.may_block:
            if position >= fresh:
                yield from _plain(trace, foresight, position)
        elif position >= fresh or not action.fixed:
            point = _Point(action.thread, action, position)
            yield from _Openings(trace, foresight, point).find_reversals()
    for thread, actions in last.actions.items():
        for action in actions:
            if not action.enabled:
                point = _Point(thread, action, len(trace))
                yield from _Openings(trace, foresight, point).find_reversals()


def _plain(trace: EventOrder, foresight: Foresight, position: int) -> Iterator[Reversal]:
    action = trace.actions[position]
    for earlier in trace.races(position):
        if action.life is not None and action.life in trace.actions[earlier].writes:
            point = _Point(action.thread, action, position)
            yield from _Openings(trace, foresight, point).without(earlier)
            continue
        others = up_to(len(trace)) & ~up_to(earlier) & ~trace.after(earlier)
        yield Reversal(earlier, [*trace.pick(others), action])


def find_other_choices(
    trace: EventOrder, foresight: Foresight, position: int, covered: Container[Move]
) -> Iterator[Reversal]:
    """The sequences that lead to another choice than that of the event at `position`; none that
    could begin with a choice which is covered."""
    action = trace.actions[position]
    point = _Point(action.thread, action, position)
    yield from _Openings(trace, foresight, point).without(position, covered)


class _Openings:
    """The prefixes of a run after which a thread could move at a point of its life."""

    def __init__(self, trace: EventOrder, foresight: Foresight, point: _Point) -> None:
        self.trace = trace
        self.foresight = foresight
        self.point = point
        self.past = trace.past(point.thread, point.end)
        self.seen = set(point.action.reads | point.action.writes)
        """What attempts are seen to read."""

    def find_reversals(self) -> Iterator[Reversal]:
        done = 0
        while rivals := self.rivals() & ~done:
            for earlier in bits(rivals):
                yield from self.without(earlier)
            done |= rivals

    def rivals(self) -> Events:
        """The events that may have kept the thread from moving, or depend on what it did.

        A thread that nobody can keep from moving has moved behind every event that matters, and
        the last ones of them are enough.
        """
        trace, point = self.trace, self.point
        dependent = trace.conflicting(point.action, point.end) & ~self.past
        if not point.action.may_block:
            return sum(1 << position for position in trace.maximal(dependent))
        own = trace.of_thread.get(point.thread, 0)
        return (dependent | self.writers()) & up_to(point.end) & ~self.past & ~own

    def writers(self) -> Events:
        """The events that have written what an attempt may read."""
        watched = self.point.action.watched
        found = 0
        for thing in self.seen if watched is None else watched:
            found |= self.trace.writers.get(thing, 0)
        return found

    def without(self, earlier: int, covered: Container[Move] = ()) -> Iterator[Reversal]:
        """Reversals that lead from the node before an event to an action which depends on it; none
        that could begin with one of the moves which are covered."""
        trace = self.trace
        allowed = up_to(len(trace)) & ~up_to(earlier) & ~trace.after(earlier)
        if self.point.end < len(trace):
            allowed &= ~trace.after(self.point.end)
        event, mover = trace.actions[earlier], self.point.thread
        start = self.past & ~up_to(earlier)
        seen, waiting = {start}, [start]
        while waiting:
            prefix = waiting.pop()
            actions = self.foresight.preview(earlier, prefix, mover)
            reads = frozenset().union(*[action.reads for action in actions])
            writes = frozenset().union(*[action.writes for action in actions])
            self.seen |= reads | writes
            for action in actions:
                if action.move in covered and not (prefix and self.needs(action, prefix)):
                    continue
                if action.enabled and action.depends(event):
                    yield Reversal(earlier, self.fill(prefix, allowed, action))
            for position in bits(allowed & ~prefix):
                other = trace.actions[position]
                apart = other.writes.isdisjoint(reads) and other.writes.isdisjoint(writes)
                if not (apart and other.reads.isdisjoint(writes)) or other.thread == mover:
                    longer = prefix | trace.before[position] & ~up_to(earlier)
                    if longer not in seen:
                        seen.add(longer)
                        waiting.append(longer)

    def needs(self, action: Action, prefix: Events) -> bool:
        """Whether an action depends on an event of a prefix."""
        return any(event.depends(action) for event in self.trace.pick(prefix))

    def fill(self, prefix: Events, allowed: Events, action: Action) -> list[Action]:
        """The prefix, all other events that depend neither on `earlier` nor on the action, and
        the action."""
        trace = self.trace
        missing = allowed & ~prefix
        for position in bits(missing):
            event = trace.actions[position]
            complete = not trace.before[position] & missing & ~(1 << position)
            if complete and not event.depends(action):
                prefix |= 1 << position
                missing &= ~(1 << position)
        return [*trace.pick(prefix), action]


def initials(sequence: Sequence[Action]) -> list[int]:
    """I(v): the threads whose first action could come first of all."""
    found: list[int] = []
    for position, action in enumerate(sequence):
        if not any(earlier.depends(action) for earlier in sequence[:position]):
            found.append(action.thread)
    return found


def remove_initial(sequence: Sequence[Action], action: Action) -> list[Action] | None:
    """What is left of a sequence if an action comes first; None unless it is a weak initial.

    WI(v): it is the sequence's own and could come first, or depends on nothing there.
    """
    for position, other in enumerate(sequence):
        if other.move == action.move:
            return [*sequence[:position], *sequence[position + 1 :]]
        if other.depends(action):
            return None
    return list(sequence)
