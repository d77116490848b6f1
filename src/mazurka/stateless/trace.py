"""What has happened so far, and what happens before what.

Lamport's happens-before for a run of actions: the smallest partial order that contains the order of
each thread and orders dependent actions as they came (Mazurkiewicz's traces: two runs with the same
order are one trace).  Papers keep it in clock vectors; here each event has the set of events before
it as the bits of one integer, which needs no fixed number of threads and makes "all events that are
not after e" one operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from mazurka.stateless.execution import Action, Move, SharedObject

Events: TypeAlias = int
"""A set of events: bit i is the event at position i."""


def bits(events: Events) -> Iterator[int]:
    """The positions in a set of events, earliest first."""
    while events:
        lowest = events & -events
        yield lowest.bit_length() - 1
        events ^= lowest


def up_to(position: int) -> Events:
    """All positions below the given one."""
    return (1 << position) - 1


class Trace:
    """A run and its happens-before order; grows and shrinks at its end."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.before: list[Events] = []
        """For each event those that happen before it, itself included."""
        self.of_thread: dict[int, list[int]] = {}
        self.readers: dict[SharedObject, list[int]] = {}
        self.writers: dict[SharedObject, list[int]] = {}

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def schedule(self) -> tuple[Move, ...]:
        return tuple(action.move for action in self.actions)

    def push(self, action: Action) -> None:
        position = len(self.actions)
        before = 1 << position | self.past(action.move.thread)
        for other in self._latest_conflicts(action):
            before |= self.before[other]
        self.actions.append(action)
        self.before.append(before)
        self.of_thread.setdefault(action.move.thread, []).append(position)
        for touched, index in ((action.reads, self.readers), (action.writes, self.writers)):
            for thing in touched:
                index.setdefault(thing, []).append(position)

    def pop(self) -> None:
        action = self.actions.pop()
        self.before.pop()
        self.of_thread[action.move.thread].pop()
        for touched, index in ((action.reads, self.readers), (action.writes, self.writers)):
            for thing in touched:
                index[thing].pop()

    def _latest_conflicts(self, action: Action) -> Iterator[int]:
        """Conflicting events that are enough to order the action after all of them."""
        for thing in action.reads | action.writes:
            writers = self.writers.get(thing)
            if writers:
                yield writers[-1]
        for thing in action.writes:
            last_write = self.writers[thing][-1] if self.writers.get(thing) else -1
            for position in reversed(self.readers.get(thing, ())):
                if position < last_write:
                    break
                yield position

    def past(self, thread: int, end: int | None = None) -> Events:
        """What happens before or is the thread's last event (before position `end`)."""
        for position in reversed(self.of_thread.get(thread, ())):
            if end is None or position < end:
                return self.before[position]
        return 0

    def conflicting(self, action: Action, end: int | None = None) -> Events:
        """All events (before position `end`) of other threads that conflict with the action."""
        found = 0
        for thing in action.reads | action.writes:
            found |= _mask(self.writers.get(thing, ()))
        for thing in action.writes:
            found |= _mask(self.readers.get(thing, ()))
        found &= ~_mask(self.of_thread.get(action.move.thread, ()))
        return found if end is None else found & up_to(end)

    def maximal(self, events: Events) -> Iterator[int]:
        """Those that do not happen before another one of the set, latest first."""
        while events:
            last = events.bit_length() - 1
            yield last
            events &= ~self.before[last]

    def after(self, position: int, end: int | None = None) -> Events:
        """The event and all that happen after it (before position `end`)."""
        end = len(self) if end is None else end
        return sum(1 << i for i in range(position, end) if self.before[i] >> position & 1)

    def threads_of(self, events: Events) -> set[int]:
        return {self.actions[position].move.thread for position in bits(events)}

    def pick(self, events: Events) -> list[Action]:
        return [self.actions[position] for position in bits(events)]


def _mask(positions: Iterable[int]) -> Events:
    found = 0
    for position in positions:
        found |= 1 << position
    return found
