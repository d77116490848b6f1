"""Happens-before graphs as states: section 3.3 of paper 001, and prefixes that were never driven.

M. Musuvathi and S. Qadeer, *Partial-Order Reduction for Context-Bounded State Exploration*,
MSR-TR-2007-12.  A state is what has happened so far, as a partial order; two schedules that lead to
the same graph are one execution.

| paper | here |
|---|---|
| action ⟨o, t, n, v, m⟩, h(a) | `Graph.action`, `actions.action_hash` |
| h(A), the XOR of the h(a) | `Graph.hash`, kept up to date in both directions |
| frontier F(s) | `Graph.frontier` |
| s − t, and back again | `Graph.back`, `Graph.forth` |
| E(s) | `Graph.enabled` |
| next(s, t) | `Graph.next_hash` |

The graph belongs to the present run; it is extended step by step and cut back where the next run
parts from it.  A **cursor** stands at a prefix, at first at the end.  The order H is kept as a set
of events for each event, everything in its past, which is an integer with one bit an event; so the
number of writes an object has seen at the cursor, and with it the object's state there, is a count
of bits.  What a thread would do at a prefix is asked of the operation it stood before, with
the states of that prefix (`Operation.at`); the program is not needed.

Deviations: an action may touch several objects; hashes have 128 bits and stand for the states
themselves; a thread's first action comes after the one that began the thread.
"""

from __future__ import annotations

from collections.abc import Hashable

from mazurka.stateless.actions import StateHash
from mazurka.stateless.recording import Recording, Stand, Touched
from mazurka.stateless.runs import Shared


class Graph(Recording):
    """The happens-before graph of the present run, and a cursor at one of its prefixes."""

    def frontier(self) -> list[int]:
        """F(s): the threads whose last action nothing comes after."""
        before, last, covered = self.before, [], 0
        for thread, count in enumerate(self.counts):
            if count:
                event = self.events[thread][count - 1]
                last.append((thread, event))
                covered |= before[event]
        return [thread for thread, event in last if not covered >> event & 1]

    def hash_before(self, thread: int) -> StateHash:
        """The hash of s − t."""
        return self.hash ^ self.hash_of[self.events[thread][self.counts[thread] - 1]]

    def back(self, thread: int) -> None:
        """The cursor goes to s − t."""
        count = self.counts[thread] - 1
        event = self.events[thread][count]
        self.counts[thread] = count
        self.here ^= 1 << event
        self.hash ^= self.hash_of[event]

    def forth(self, thread: int) -> None:
        """The cursor goes to next(s, t), along the run's own events."""
        count = self.counts[thread]
        event = self.events[thread][count]
        self.counts[thread] = count + 1
        self.here ^= 1 << event
        self.hash ^= self.hash_of[event]

    def state_here(self, shared: Shared) -> Hashable:
        """The state of an object at the cursor, as the operation that is being asked looks at it.

        An operation from an earlier run looks at that run's objects, which have the states of its
        end.  If such an object was written then, its first state has been noted, at the latest
        when the write was taken back; if it was not, it still has its first state.
        """
        number = self.number(shared.name)
        self._looked_at.append(number)
        writes = self.writes[number]
        if writes:
            return self.states[number][(self.here & writes).bit_count()]
        if self.first_noted[number] >= self._looking.run:
            return self.states[number][0]
        return shared.state

    def touches_here(self, thread: int) -> Touched | None:
        """What the thread's next action touches at the cursor; None if it cannot go on."""
        line = self.stands[thread]
        if not line:
            return None
        count = self.counts[thread]
        if not count and (born := self.born[thread]) >= 0 and not self.here >> born & 1:
            return None
        stand = line[count]
        if stand.fixed is not None:
            return stand.fixed
        if stand.operation is None:
            return None
        number = stand.first
        if number < 0:
            return self._ask(stand)
        states = self.states[number]
        state = states[(self.here & self.writes[number]).bit_count()]
        try:
            return stand.answers[state]
        except KeyError:
            return self._ask(stand)

    def _ask(self, stand: Stand) -> Touched | None:
        """Ask an operation what it touches, and keep the answer where one object decided it."""
        assert stand.operation is not None
        looked_at, self._looking = self._looked_at, stand
        looked_at.clear()
        touches = stand.operation.at(self.state_here)
        touched = None if touches is None else self.resolved(touches)
        if looked_at and looked_at.count(stand.first) == len(looked_at):
            number = stand.first
            state = self.states[number][(self.here & self.writes[number]).bit_count()]
            stand.answers[state] = touched
        return touched

    def next_hash(self, thread: int) -> StateHash | None:
        """The hash of next(s, t), None if the thread is not enabled at the cursor."""
        touched = self.touches_here(thread)
        return None if touched is None else self.hash ^ self.action(thread, touched)

    def enabled(self) -> tuple[int, int]:
        """E(s), and those among them from which a switch is a preemption: as sets of bits."""
        able = stays = 0
        bit = 1
        for thread, count in enumerate(self.counts):
            if self.touches_here(thread) is not None:
                able |= bit
                stand = self.stands[thread][count]
                assert stand.operation is not None
                yields = stand.operation.yields
                if yields is False:
                    stays |= bit
                elif yields is not True:
                    self._looking = stand
                    stays |= 0 if yields(self.state_here) else bit
            bit <<= 1
        return able, stays

    def count_enabled(self) -> int:
        """The number of threads in E(s)."""
        able = 0
        here, states, writes = self.here, self.states, self.writes
        for thread, count in enumerate(self.counts):
            line = self.stands[thread]
            if not line or (not count and self.born[thread] >= 0):
                able += self.touches_here(thread) is not None
                continue
            stand = line[count]
            if stand.fixed is not None:
                able += 1
            elif (number := stand.first) >= 0:
                state = states[number][(here & writes[number]).bit_count()]
                answers = stand.answers
                touched = answers[state] if state in answers else self._ask(stand)
                able += touched is not None
            elif stand.operation is not None:
                able += self._ask(stand) is not None
        return able
