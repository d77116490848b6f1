"""The recording of a run, from which everything about its prefixes is derived.

It is extended step by step and cut back where the next run parts from it.  For each step: who took
it, what it touched, which steps happen before it, and the hash of its action.  For each object: its
writes, its reads, and the states between its writes.  For each thread: where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from mazurka.errors import InternalError
from mazurka.stateless.bounded.hashing import EMPTY, StateHash, encode_name, hash_action
from mazurka.stateless.preemptions import gives_way, live
from mazurka.stateless.runs import LifeRole, Lookup, ObjectName, Operation, Shared, Touch

Touched: TypeAlias = tuple[tuple[int, Shared, bool], ...]
"""What an action touches: the object's number in the graph, the object, whether it is written."""


_STEP = LifeRole.STEP


class Stand:
    """Where a thread stood: before an operation, or at its end."""

    __slots__ = (
        *("answers", "first", "fixed", "is_plain", "joined", "needs", "operation", "role", "run"),
        *("silent", "yields"),
    )
    answers: dict[Hashable, Touched | None]
    """What the operation touches, by the state of the object `first`, where it looked at no other
    one."""

    def __init__(self, operation: Operation | None, run: int, needs: int) -> None:
        self.operation = operation
        """None also before an end or a join, which are no steps (`stateless.bounded.lives`)."""
        self.run = run
        """The run that the operation comes from."""
        self.needs = needs
        """Events that must have happened, besides what the operation itself asks for."""
        self.silent: tuple[tuple[int, int], ...] = ()
        """Ends and joins that the thread has passed since its last step: what they needed, and who
        was joined."""
        self.role = _STEP
        self.joined = -1
        self.yields: bool | Callable[[Lookup], bool] = False
        self.fixed: Touched | None = None
        """What the operation touches, if it does not depend on states."""
        self.is_plain = False
        """Whether nothing depends on states or on what has happened: it goes on, and gives no
        way."""
        self.first = -1
        """The object that the operation looks at first, always the same one."""


class Recording:
    """The present run.  A set of its events, as a prefix is one, is an integer with a bit each."""

    def __init__(self) -> None:
        self.numbers: dict[ObjectName, int] = {}
        self.names: list[bytes] = []
        """The encoded names of objects, by their numbers."""
        self.hashes: dict[tuple[int, ...], StateHash] = {}
        """The hashes of actions, by thread, position and numbers of what they touch."""
        # By object: its writes and reads, as sets of events, and the states between its writes.
        self.writes: list[int] = []
        self.reads: list[int] = []
        self.states: list[list[Hashable]] = []
        self.watching: list[int] = []
        """The threads that have been seen to look at an object, to find out whether they can go
        on; in any run."""
        self.first_noted: list[int] = []
        """The last run in which an object had no writes, or lost them, and its first state was
        known."""
        # By event.
        self.schedule: list[int] = []
        self.past: list[int] = []
        """What is before an event, and the event itself."""
        self.hash_of: list[StateHash] = []
        self.touched: list[Touched] = []
        self.covers: list[Sequence[int]] = []
        """The events right before an event; empty before anybody has asked."""
        self.awaited: list[int] = []
        """The threads that may have stood where they need an event (`Stand.needs`), of which none
        comes after it that they need, too."""
        self.kept = 0
        """How many events have been there since somebody set this to their number."""
        self.begun: list[tuple[int, int]] = []
        """Events that have begun a thread, and which."""
        # By thread: its events, and where it stood before each of them and stands now.
        self.lines: list[int] = []
        self.rests = 0
        """The events at which threads gave way."""
        self.stands: list[list[Stand]] = []
        self.replaced: list[tuple[int, list[Stand], int, Stand]] = []
        """Where threads stood before what is no event: how many events there were then, and what
        stood where in which of `stands`."""
        self.any_yields = False
        """Whether a thread has ever given way, or may have."""
        self._unborn = 0
        """How many threads have not begun in this run, though there is a number for them."""
        # The cursor: at the end while the run goes on.
        self.here = 0
        self.hash: StateHash = EMPTY
        self.run = 0
        self._looking: Stand = Stand(None, 0, 0)
        self._looked_at: list[int] = []
        """What the operation of `_looking` has looked at, while it is asked."""
        self._seen: Hashable = None
        self._unsettled: Touched = ()
        self._moved = -1
        """Who took the last step, while it is not known where that has led."""
        self.slips: list[tuple[int, int]] = []
        """Ends and joins that have been passed since then, without being events: who passed them,
        and whom they joined (`stateless.bounded.lives`)."""

    def restart(self) -> None:
        """Forget the run, and keep numbers and hashes."""
        self.cut(0)
        self.replaced.clear()
        self.lines.clear()
        self.stands.clear()
        self._unborn = 0
        self.run += 1

    @property
    def counts(self) -> list[int]:
        """By thread: how many steps it has taken at the cursor."""
        return [(self.here & line).bit_count() for line in self.lines]

    def arrive(self, pending: Sequence[Operation | None]) -> None:
        """Note where threads stand after the last step, and the states in which it left objects."""
        moved = self._moved
        if moved >= 0:
            self._moved = -1
            for number, shared, written in self._unsettled:
                if written:
                    self.states[number].append(shared.state)
            operation = pending[moved]
            if self.slips:
                self.pass_on(pending, moved)
            elif operation is not None and operation.role:
                self.advance(moved, operation)
            else:
                self.stands[moved].append(self.ask(operation, 0))
        elif self.slips:
            self.pass_on(pending, moved)
        if self._unborn or len(pending) != len(self.lines):
            self._meet(pending)

    def _meet(self, pending: Sequence[Operation | None]) -> None:
        """Note threads that the last step has begun."""
        while len(self.lines) < len(pending):
            self.lines.append(0)
            self.stands.append([])
            self._unborn += 1
        last = len(self.schedule) - 1
        needs = 0 if last < 0 else self.past[last]
        for thread, operation in enumerate(pending):
            if operation is not None and not self.stands[thread]:
                self.stands[thread].append(self.stand(operation, needs))
                self.wait_for(thread, needs)
                self._unborn -= 1
                if last >= 0:
                    self.begun.append((last, thread))

    def wait_for(self, thread: int, needs: int) -> None:
        """Note that a thread stands where it needs some events."""
        for line in self.lines:
            if mine := needs & line:
                self.awaited[mine.bit_length() - 1] |= 1 << thread

    def settle(self, pending: Sequence[Operation | None]) -> None:
        """At the end of a run: note where threads stand, if that has not been done."""
        if self._moved >= 0 or self.slips or not self.schedule:
            self.arrive(pending)

    def advance(self, thread: int, operation: Operation | None) -> None:
        """Note where a thread stands after a step, before an end or a join, or at its own end."""
        self.stands[thread].append(self.stand(operation, 0))

    def pass_on(self, pending: Sequence[Operation | None], moved: int) -> None:
        """Note that threads have passed ends and joins; `moved` took the last step, and may be one
        of them."""
        raise InternalError("ends and joins are steps here")

    def stand(self, operation: Operation | None, needs: int) -> Stand:
        """Note that a thread has come to any operation, or to its end."""
        return self.ask(operation, needs)

    def ask(self, operation: Operation | None, needs: int) -> Stand:
        """Where a thread stands; and what the operation touches, as far as that is settled."""
        stand = Stand(operation, self.run, needs)
        if operation is not None:
            if yields := operation.yields:
                stand.yields = yields
                self.any_yields = True
            looked_at = self._looked_at
            looked_at.clear()
            touches = operation.at(self._probe)
            touched = None if touches is None else self.resolve(touches)
            if looked_at:
                stand.first = looked_at[0]
                stand.answers = {}
                if len(looked_at) == 1:
                    stand.answers[self._seen] = touched
            elif touched is not None:
                stand.fixed = touched
                stand.is_plain = not (needs or stand.yields)
        return stand

    def renew(self, pending: Sequence[Operation | None]) -> None:
        """The run has come again to the end of the graph: threads stand before operations that are
        the same as before, but on objects of this run."""
        self.run += 1
        for thread, line in enumerate(self.stands):
            operation = pending[thread] if thread < len(pending) else None
            if operation is not None and line:
                old = line[-1]
                if old.is_plain and type(operation) is type(old.operation):
                    touches = operation.at(self._probe)
                    assert touches is not None
                    old.fixed = self.resolve(touches)
                    old.operation, old.run = operation, self.run
                    continue
                line[-1] = new = self.stand(operation, old.needs)
                new.silent = old.silent

    def _probe(self, shared: Shared) -> Hashable:
        """The state of an object now.  Where it has not been written, that is its first state; it
        is noted, since threads that unwind after a run may change it."""
        number = self.numbers.get(shared.name)
        if number is None:
            number = self.number(shared.name)
        self._looked_at.append(number)
        if not self.writes[number]:
            self.states[number] = [shared.state]
            self.first_noted[number] = self.run
        self._seen = shared.state
        return shared.state

    def resolve(self, touches: Sequence[Touch]) -> Touched:
        """Touches with the objects' numbers, each object once."""
        if len(touches) == 1:
            shared, written = touches[0]
            number = self.numbers.get(shared.name)
            if number is None:
                number = self.number(shared.name)
            return ((number, shared, written),)
        if len({shared.name for shared, _ in touches}) < len(touches):
            merged: dict[ObjectName, Touch] = {}
            for shared, written in touches:
                known = merged.get(shared.name)
                merged[shared.name] = (shared, written or (known is not None and known[1]))
            touches = tuple(merged.values())
        return tuple(
            [(self.number(shared.name), shared, bool(written)) for shared, written in touches]
        )

    def number(self, name: ObjectName) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.names)
            self.names.append(encode_name(name))
            self.writes.append(0)
            self.reads.append(0)
            self.states.append([])
            self.watching.append(0)
            self.first_noted.append(-1)
        return number

    def touches_now(self, thread: int) -> Touched:
        """What the thread's next action touches if it is taken now; it must be possible."""
        stand = self.stands[thread][-1]
        if stand.fixed is not None:
            return stand.fixed
        touches = None if stand.operation is None else stand.operation.at(live)
        if touches is None:
            raise ValueError(f"thread {thread} is said to be enabled, but it cannot go on")
        return self.resolve(touches)

    def take(self, thread: int, touched: Touched) -> None:
        """Add a thread's next step at the end of the graph, where the cursor stands."""
        self.extend(thread, touched, self.action(thread, touched))

    def extend(self, thread: int, touched: Touched, action: StateHash) -> None:
        """Add a step of a thread whose touches and hash are known, at the end of the graph."""
        here, past, lines, all_writes = self.here, self.past, self.lines, self.writes
        bit = here + 1
        line = lines[thread]
        stand = self.stands[thread][-1]
        before = stand.needs
        if stand.yields is not False and gives_way(stand.operation):
            self.rests |= bit
        if line:
            before |= past[line.bit_length() - 1]
        for number, shared, written in touched:
            writes = all_writes[number]
            if writes:
                before |= past[writes.bit_length() - 1]
            if written:
                if self.reads[number] > writes:  # the last access was a read
                    before |= self._past_of_reads(number)
                if not writes:
                    self.states[number] = [shared.state]
                all_writes[number] = writes | bit
            else:
                self.reads[number] |= bit
        lines[thread] = line | bit
        self.schedule.append(thread)
        past.append(before | bit)
        self.hash_of.append(action)
        self.touched.append(touched)
        self.covers.append(())
        self.awaited.append(0)
        self.here = here | bit
        self.hash ^= action
        self._unsettled = touched
        self._moved = thread

    def _past_of_reads(self, number: int) -> int:
        """Reads since the last write, and what happened before them."""
        first = self.writes[number].bit_length()
        reads = self.reads[number] >> first << first
        past = reads
        while reads:
            last = reads.bit_length() - 1
            past |= self.past[last]
            reads ^= 1 << last
        return past

    def cut(self, count: int) -> None:
        """Forget all steps but so many; the cursor goes to the new end."""
        if count < self.kept:
            self.kept = count
        self._moved = -1
        self.slips.clear()
        if self.replaced:
            self._put_back(count)
        kept = (1 << count) - 1
        self.rests &= kept
        for thread in set(self.schedule[count:]):
            line = self.lines[thread] = self.lines[thread] & kept
            del self.stands[thread][line.bit_count() + 1 :]
        while self.begun and self.begun[-1][0] >= count:
            self.stands[self.begun.pop()[1]].clear()
            self._unborn += 1
        all_writes = self.writes
        for touched in set(self.touched[count:]):
            for number, _, written in touched:
                if not written:
                    self.reads[number] &= kept
                elif all_writes[number] > kept:
                    writes = all_writes[number] = all_writes[number] & kept
                    del self.states[number][writes.bit_count() + 1 :]
                    if not writes:
                        self.first_noted[number] = self.run
        self.here &= kept
        for action in self.hash_of[count:]:
            self.hash ^= action
        del self.schedule[count:], self.past[count:], self.hash_of[count:], self.touched[count:]
        del self.covers[count:], self.awaited[count:]

    def _put_back(self, count: int) -> None:
        """Threads stand where they stood when the last of so many steps had been taken."""
        while self.replaced and self.replaced[-1][0] > count:
            _, stands, position, old = self.replaced.pop()
            stands[position] = old

    def action(self, thread: int, touched: Touched) -> StateHash:
        """The hash of the thread's next action, with the versions of the cursor."""
        here, writes = self.here, self.writes
        position = (here & self.lines[thread]).bit_count()
        key: tuple[int, ...]
        if len(touched) == 1:
            number, _, written = touched[0]
            key = (thread, position, number, written, (here & writes[number]).bit_count())
        else:
            parts = [thread, position]
            for number, _, written in touched:
                parts += (number, written, (here & writes[number]).bit_count())
            key = tuple(parts)
        known = self.hashes.get(key)
        return self._new_hash(key) if known is None else known

    def _new_hash(self, key: tuple[int, ...]) -> StateHash:
        thread, position, *rest = key
        touches = [
            (self.names[rest[i]], bool(rest[i + 1]), rest[i + 2] + rest[i + 1])
            for i in range(0, len(rest), 3)
        ]
        made = self.hashes[key] = hash_action(thread, position + 1, touches)
        return made
