"""Happens-before graphs as states: section 3.3 of paper 001, and prefixes that were never driven.

M. Musuvathi and S. Qadeer, *Partial-Order Reduction for Context-Bounded State Exploration*,
MSR-TR-2007-12.  A state is what has happened so far, as a partial order; two schedules that lead to
the same graph are one execution.

| paper | here |
|---|---|
| action ⟨o, t, n, v, m⟩, h(a) | `Graph.action`, `hashing.hash_action` |
| h(A), the XOR of the h(a) | `Graph.hash`, kept up to date in both directions |
| frontier F(s) | `Graph.maximal`, `Graph.frontier` |
| s − t, and back again | `Graph.back`, `Graph.forth` |
| E(s) | `Graph.able`, `Graph.able_after`, `Graph.count_able`, `Graph.enabled` |
| next(s, t) | `Graph.next_hash` |

The graph belongs to the present run; it is extended step by step and cut back where the next run
parts from it.  A prefix is a set of events, which is an integer with one bit an event, and so is
the past of each event, which is the order H; the number of writes an object has seen in a prefix,
and with it the object's state there, is a count of bits.  A **cursor** stands at a prefix, at first
at the end.  What is asked most often takes the prefix as an argument and moves nothing.

What a thread would do at a prefix is asked of the operation it stood before, with the states of
that prefix (`Operation.at`); the program is not needed.

Deviations: an action may touch several objects; hashes have 128 bits and stand for the states
themselves; a thread's first action comes after the one that began the thread; the searches leave
out ends and joins of threads where they can (`stateless.bounded.lives`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.bounded.recording import Recording, Stand, Touched
from mazurka.stateless.preemptions import GivingWay, find_hasty, find_late
from mazurka.stateless.runs import Shared


class Graph(Recording):
    """The happens-before graph of the present run, and a cursor at one of its prefixes."""

    early_timeouts = True
    """Whether threads whose timeout would end early are in E(s)."""

    def maximal(self, here: int) -> list[int]:
        """The events of a prefix that nothing comes after."""
        if not here:
            return []
        end = here.bit_length() - 1
        if self.past[end] == here:
            return [end]
        past, last, covered = self.past, [], 0
        for line in self.lines:
            if mine := here & line:
                event = mine.bit_length() - 1
                last.append(event)
                covered |= past[event] ^ 1 << event
        return [event for event in last if not covered >> event & 1]

    def cover(self, event: int) -> Sequence[int]:
        """The events right before one: of those before it, the ones that nothing comes after."""
        found = self.covers[event] = self.maximal(self.past[event] ^ 1 << event)
        return found

    def frontier(self) -> list[int]:
        """F(s): the threads whose last action nothing comes after."""
        return [self.schedule[event] for event in self.maximal(self.here)]

    def back(self, thread: int) -> None:
        """Move the cursor to s − t."""
        event = (self.here & self.lines[thread]).bit_length() - 1
        self.here ^= 1 << event
        self.hash ^= self.hash_of[event]

    def forth(self, thread: int) -> None:
        """Move the cursor to next(s, t), along the run's own events."""
        rest = self.lines[thread] & ~self.here
        self.here |= rest & -rest
        self.hash ^= self.hash_of[(rest & -rest).bit_length() - 1]

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

    def touches_at(self, thread: int, here: int) -> Touched | None:
        """What the thread's next action touches at a prefix; None if it cannot go on."""
        line = self.stands[thread]
        if not line:
            return None
        stand = line[(here & self.lines[thread]).bit_count()]
        if stand.needs & ~here:
            return None
        if stand.fixed is not None:
            return stand.fixed
        number = stand.first
        if number < 0:
            return None if stand.operation is None else self._ask(stand, here)
        state = self.states[number][(here & self.writes[number]).bit_count()]
        answers = stand.answers
        return answers[state] if state in answers else self._ask(stand, here)

    def touches_here(self, thread: int) -> Touched | None:
        return self.touches_at(thread, self.here)

    def _ask(self, stand: Stand, here: int) -> Touched | None:
        """Ask an operation what it touches, and keep the answer where one object decided it."""
        assert stand.operation is not None
        looked_at, self._looking = self._looked_at, stand
        looked_at.clear()
        self.here, cursor = here, self.here
        touches = stand.operation.at(self.state_here)
        self.here = cursor
        touched = None if touches is None else self.resolve(touches)
        if looked_at and looked_at.count(stand.first) == len(looked_at):
            number = stand.first
            state = self.states[number][(here & self.writes[number]).bit_count()]
            stand.answers[state] = touched
        return touched

    def ask_at(self, stand: Stand, here: int) -> tuple[Touched | None, tuple[int, ...]]:
        """What an operation touches at a prefix, None if it cannot go on; and the objects that it
        looks at to find out."""
        if stand.fixed is not None:
            return stand.fixed, ()
        number = stand.first
        if number >= 0:
            state = self.states[number][(here & self.writes[number]).bit_count()]
            if state in stand.answers:
                return stand.answers[state], (number,)
        touched = self._ask(stand, here)
        return touched, tuple(dict.fromkeys(self._looked_at))

    def next_hash(self, thread: int) -> StateHash | None:
        """The hash of next(s, t), None if the thread is not enabled at the cursor."""
        touched = self.touches_here(thread)
        return None if touched is None else self.hash ^ self.action(thread, touched)

    def able(self, here: int) -> tuple[int, int, int]:
        """E(s) of a prefix, those of them that do not give way, and those for which to go on is a
        preemption, whoever was last (`stateless.preemptions`): as sets of bits.  Those whose
        timeout would end early are not in E(s) where such executions are left out.

        This is asked of every state; what most operations need is done here.
        """
        able = yielding = lasting = 0
        rests: list[GivingWay] = []
        bit = 1
        states, writes, lines = self.states, self.writes, self.lines
        for thread, line in enumerate(self.stands):
            if line:
                mine = lines[thread]
                stand = line[(here & mine).bit_count()]
                if stand.is_plain:
                    able |= bit
                elif stand.operation is not None and not stand.needs & ~here:
                    number = stand.first
                    if number >= 0:
                        self.watching[number] |= bit
                        state = states[number][(here & writes[number]).bit_count()]
                        answers = stand.answers
                        touched = (
                            answers[state] if state in answers else self._look(stand, here, bit)
                        )
                    else:
                        touched = stand.fixed
                        if touched is None:
                            touched = self._look(stand, here, bit)
                    if touched is not None:
                        able |= bit
                        if stand.yields and self._yields(stand, here):
                            yielding |= bit
                            lasts = stand.operation.seconds > 0
                            if lasts:
                                lasting |= bit
                            count = (here & mine & self.rests).bit_count()
                            rests.append(GivingWay(bit, count, lasts, stand.operation.ends))
            bit <<= 1
        if not yielding:
            return able, able, 0
        stays = able ^ yielding
        if stays:
            untimely = 0 if self.early_timeouts else lasting
            return able ^ untimely, stays, yielding ^ untimely
        hasty = sum(find_hasty(rests))
        if self.early_timeouts or not lasting:
            return able, 0, hasty
        late = sum(find_late(rests))
        return able ^ late, 0, hasty ^ late

    def able_after(self, event: int, enabled: int, here: int) -> int:
        """E(s) of a prefix whose last event that is, from E(s − t), where no thread gives way.

        Whether a thread can go on depends on where it stands, on what it needs, and on the states
        of the objects that it looks at.  So the answers are the same before and after the event
        but for the event's own thread, those that may need it (`awaited`), as one that it has begun
        does, and those that look at what it writes (`watching`).
        """
        stands, watching = self.stands, self.watching
        again = 1 << self.schedule[event] | self.awaited[event]
        for number, _, written in self.touched[event]:
            if written:
                again |= watching[number]
        enabled &= ~again
        while again:
            thread = again.bit_length() - 1
            bit = 1 << thread
            again ^= bit
            if thread >= len(stands) or not (line := stands[thread]):
                continue  # one of an earlier run
            stand = line[(here & self.lines[thread]).bit_count()]
            if stand.is_plain:
                enabled |= bit
            elif stand.operation is not None and not stand.needs & ~here:
                number = stand.first
                if number >= 0:
                    watching[number] |= bit
                    state = self.states[number][(here & self.writes[number]).bit_count()]
                    answers = stand.answers
                    touched = answers[state] if state in answers else self._look(stand, here, bit)
                    if touched is not None:
                        enabled |= bit
                elif stand.fixed is not None or self._look(stand, here, bit) is not None:
                    enabled |= bit
        return enabled

    def _look(self, stand: Stand, here: int, bit: int) -> Touched | None:
        """Ask an operation, and note at which objects its thread looks."""
        touched = self._ask(stand, here)
        for number in self._looked_at:
            self.watching[number] |= bit
        return touched

    def _yields(self, stand: Stand, here: int) -> bool:
        """Whether a thread gives way at a prefix."""
        if isinstance(stand.yields, bool):
            return stand.yields
        self._looking = stand
        self.here, cursor = here, self.here
        yields = stand.yields(self.state_here)
        self.here = cursor
        return yields

    def enabled(self) -> tuple[int, int, int]:
        """What `able` says of the prefix at the cursor."""
        return self.able(self.here)

    def count_able(self, here: int) -> int:
        """The number of threads that can go on at a prefix, early timeouts included.

        This is asked of every state; what most operations need is done here.
        """
        count = 0
        states, writes, lines = self.states, self.writes, self.lines
        for thread, line in enumerate(self.stands):
            if line:
                stand = line[(here & lines[thread]).bit_count()]
                if stand.is_plain:
                    count += 1
                    continue
                if stand.operation is None or stand.needs & ~here:
                    continue
                number = stand.first
                if number >= 0:
                    state = states[number][(here & writes[number]).bit_count()]
                    answers = stand.answers
                    touched = answers[state] if state in answers else self._ask(stand, here)
                    count += touched is not None
                elif stand.fixed is not None or self._ask(stand, here) is not None:
                    count += 1
        return count
