"""What has happened so far, and what happens before what.

Lamport's happens-before for a run of actions: the smallest partial order that contains the order of
each thread and orders dependent actions as they came (Mazurkiewicz's traces: two runs with the same
order are one trace).  Papers keep it in clock vectors; here each event has the set of events before
it as the bits of one integer, which needs no fixed number of threads and makes "all events that are
not after e" one operation.
"""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.stateless.reduction.actions import Action, Events, SharedObject


def bits(events: Events) -> Iterator[int]:
    """The positions in a set of events, earliest first."""
    while events:
        lowest = events & -events
        yield lowest.bit_length() - 1
        events ^= lowest


def up_to(position: int) -> Events:
    """All positions below the given one."""
    return (1 << position) - 1


class EventOrder:
    """A run and its happens-before order; grows and shrinks at its end."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.before: list[Events] = []
        """For each event those that happen before it, itself included."""
        self.of_thread: dict[int, Events] = {}
        self.readers: dict[SharedObject, Events] = {}
        self.writers: dict[SharedObject, Events] = {}
        self.known_races: list[tuple[int, ...] | None] = []
        self.known_after: dict[int, Events] = {}

    def __len__(self) -> int:
        return len(self.actions)

    def push(self, action: Action) -> None:
        position = len(self.actions)
        event = 1 << position
        before = event | self.past(action.thread)
        conflicts = self._latest_conflicts(action)
        while conflicts:
            last = conflicts.bit_length() - 1
            before |= self.before[last]
            conflicts &= ~before
        self.actions.append(action)
        self.before.append(before)
        self.known_races.append(None)
        self.known_after.clear()
        self._enter(action, event)

    def pop(self) -> None:
        action = self.actions.pop()
        self.before.pop()
        self.known_races.pop()
        self.known_after.clear()
        self._enter(action, 1 << len(self.actions))

    def _enter(self, action: Action, event: Events) -> None:
        """Add the last event to those of its thread and its objects, or take it out again."""
        thread = action.thread
        self.of_thread[thread] = self.of_thread.get(thread, 0) ^ event
        for thing in action.reads:
            self.readers[thing] = self.readers.get(thing, 0) ^ event
        for thing in action.writes:
            self.writers[thing] = self.writers.get(thing, 0) ^ event

    def _latest_conflicts(self, action: Action) -> Events:
        """Conflicting events that are enough to order the action after all of them: of an object
        the last write, and for a write the reads since then."""
        found = 0
        for thing in action.reads:
            found |= _last(self.writers.get(thing, 0))
        for thing in action.writes:
            last_write = _last(self.writers.get(thing, 0))
            found |= last_write | self.readers.get(thing, 0) & -(last_write << 1 or 1)
        return found

    def past(self, thread: int, end: int | None = None) -> Events:
        """What happens before or is the thread's last event (before position `end`)."""
        own = self.of_thread.get(thread, 0)
        if end is not None:
            own &= up_to(end)
        return self.before[own.bit_length() - 1] if own else 0

    def conflicting(self, action: Action, end: int | None = None) -> Events:
        """All events (before position `end`) of other threads that conflict with the action."""
        found = 0
        for thing in action.reads:
            found |= self.writers.get(thing, 0)
        for thing in action.writes:
            found |= self.writers.get(thing, 0) | self.readers.get(thing, 0)
        found &= ~self.of_thread.get(action.thread, 0)
        return found if end is None else found & up_to(end)

    def maximal(self, events: Events) -> Iterator[int]:
        """Those that do not happen before another one of the set, latest first."""
        while events:
            last = events.bit_length() - 1
            yield last
            events &= ~self.before[last]

    def races(self, position: int) -> tuple[int, ...]:
        """The events right before an event in the happens-before order, of other threads."""
        known = self.known_races[position]
        if known is None:
            action = self.actions[position]
            past = self.past(action.thread, position)
            known = tuple(self.maximal(self.conflicting(action, position) & ~past))
            self.known_races[position] = known
        return known

    def after(self, position: int) -> Events:
        """The event and all that happen after it."""
        found = self.known_after.get(position)
        if found is None:
            found, event = 0, 1 << position
            for later in range(position, len(self.before)):
                if self.before[later] & event:
                    found |= 1 << later
            self.known_after[position] = found
        return found

    def pick(self, events: Events) -> list[Action]:
        return [self.actions[position] for position in bits(events)]


def _last(events: Events) -> Events:
    """The latest event of a set, as a set."""
    return 1 << events.bit_length() - 1 if events else 0
