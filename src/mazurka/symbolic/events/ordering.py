"""The order of events as clauses: program order, reads-from, write serialization, from-read.

Alglave, Kroening, Tautschnig, *Partial Orders for Efficient Bounded Model Checking of Concurrent
Software* (CAV 2013), for sequential consistency.

| symbol | here |
|---|---|
| po | events of a thread are numbered in the order of its code: `positions` |
| rf | for each read a variable for each write that it may read from, or the first value |
| ws | two writes are ordered as any two events of different threads are |
| fr | a read from w comes before every write behind w: `s and write(v) -> v < w or e < v` |
| acyclic | `before` is a total order: one variable for each two events of different threads |

**A model is an execution, and every execution is a model.**  Given a model, take the events that go
in the order of `before`.  Each is a step of its thread from where the thread is (`go -> arrives`),
and each cell that it reads holds what it has read: the write w that it reads from is before it, and
no other write lies between, by fr.  So the interpreter can take these steps.  Conversely the steps
of an execution, each as the event of its thread's path, give values to all variables: events that
do not go are put behind their thread's last one that does.  An event is a whole step, so all its
reads and writes have one place in the order: that is atomicity.

*Deviations.*  The order is not refined lazily, nor by clocks: it is closed from the start.  Within
a thread only neighbours need clauses (`e < f -> d < f` for d just before e in its thread), so only
three events of three different threads need all their cyclic orders excluded.  Two threads need no
such clauses at all.

*Deadlocks.*  With the literal `late`, a thread that has stopped somewhere reads once more there,
behind all events of the others: then its wait is looked at in the last state.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from mazurka.deadline import check_time
from mazurka.symbolic.bmc import LimitReached
from mazurka.symbolic.events.unwinding import SharedCells, ThreadUnwinding, UnwoundStep
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig, ClauseWriter, Numbers

MOST_CLAUSES = 12_000_000
"""More clauses than that are not written."""

Term: TypeAlias = "int | bool"
"""A literal of clauses, or a constant."""


class PlacedEvent(NamedTuple):
    """An event with its place: the number of its thread, and of itself there."""

    event: UnwoundStep
    thread: int
    place: int


class CellReading(NamedTuple):
    """An event that may read a cell, and where it does, as literals of the graph."""

    event: int
    address: int
    condition: int


class OrderClauses:
    """The clauses for the events of all threads."""

    def __init__(
        self,
        graph: Aig,
        shared: SharedCells,
        threads: Sequence[ThreadUnwinding],
        late: int,
        roots: Sequence[int],
        look: Callable[[], None],
    ) -> None:
        """`roots` are literals that will be asked for; `look` may end it all."""
        self.graph, self.shared, self.late, self.look = graph, shared, late, look
        self.events = [
            PlacedEvent(event, number, place)
            for number, thread in enumerate(threads)
            for place, event in enumerate(thread.events)
        ]
        self.numbers = {id(each.event): n for n, each in enumerate(self.events)}
        self.ordered = [
            [n for n, each in enumerate(self.events) if each.thread == thread and _is_shared(each)]
            for thread in range(len(threads))
        ]
        """By thread its events that others may notice, or that may notice others."""
        self.writer = ClauseWriter(graph)
        self.clauses = array("i")
        self.written = self.tried = 0
        self.writes = self._find_writes()
        self.readings = self._find_readings()
        self._define(roots)
        self.befores: dict[tuple[int, int], int] = {}
        self._number_pairs()

    @property
    def bytes(self) -> int:
        """The memory that the clauses take."""
        return self.clauses.itemsize * len(self.clauses) + self.definitions.nbytes

    # --- literals -------------------------------------------------------------------------------

    def _find_writes(self) -> dict[int, dict[int, int]]:
        """By cell the events that may write it, each with the condition."""
        found: dict[int, dict[int, int]] = {}
        for number, (event, _, _) in enumerate(self.events):
            taken = self.graph.both(event.go, event.moved)
            for address, condition in event.writes.items():
                literal = self.graph.both(taken, condition)
                if literal != FALSE:
                    found.setdefault(address, {})[number] = literal
        return found

    def _find_readings(self) -> list[CellReading]:
        graph, found = self.graph, []
        for number, (event, _, _) in enumerate(self.events):
            pending = graph.both(self.late, event.go ^ 1)
            if not event.is_beginning:
                pending = graph.both(pending, event.arrives)
            for address, condition in event.reads.items():
                attempted = event.attempts.get(address, FALSE)
                literal = graph.either(
                    graph.both(event.go, condition), graph.both(pending, attempted)
                )
                if literal != FALSE:
                    found.append(CellReading(number, address, literal))
        return found

    def _define(self, roots: Sequence[int]) -> None:
        wanted = [*roots, self.late, *(each.condition for each in self.readings)]
        for each in self.writes.values():
            wanted += each.values()
        for event, _, _ in self.events:
            wanted += [event.go, event.arrives, event.moved, *event.failures.values()]
            wanted += [bit for bits in event.after.values() for bit in bits]
            wanted += [bit for word in event.choices.values() for bit in self._word(word)]
        clauses = self.writer.define([literal for literal in wanted if literal > TRUE])
        self.definitions: Numbers = clauses

    def _word(self, word: object) -> list[int]:
        return self.shared.encoder.words.literals(word)  # type: ignore[arg-type]

    def term(self, literal: int) -> Term:
        return bool(literal) if literal <= TRUE else self.writer.literal(literal)

    def add(self, *terms: Term) -> None:
        """Add a clause."""
        self.tried += 1
        if not self.tried & 0x3FFF:
            self.look()
        if any(term is True for term in terms):
            return
        self.clauses.extend([term for term in terms if term is not False])
        self.clauses.append(0)
        self.written += 1
        if self.written > MOST_CLAUSES:
            many = f"{len(self.events):,} events"
            raise LimitReached(f"the order of {many} needs more than {MOST_CLAUSES:,} clauses")

    # --- the order ------------------------------------------------------------------------------

    def _number_pairs(self) -> None:
        for one, other in combinations(self.ordered, 2):
            for first in one:
                check_time()
                for second in other:
                    self.befores[first, second] = self.writer.new_variable()

    def before(self, first: int, second: int) -> Term:
        """Whether an event comes before another one."""
        one, other = self.events[first], self.events[second]
        if one.thread == other.thread:
            return one.place < other.place
        if one.thread < other.thread:
            return self.befores[first, second]
        return -self.befores[second, first]

    def make_clauses(self) -> Numbers:
        """All clauses."""
        for number, (event, _, _) in enumerate(self.events):
            go = self.term(event.go)
            self.add(_negate(go), self.term(event.arrives))
            failures = [self.term(each) for each in event.failures.values()]
            self.add(_negate(go), self.term(event.moved), *failures)
            self._come_last(number, event)
        self._make_transitive()
        for reading in self.readings:
            self._read(reading)
        made = np.frombuffer(self.clauses, np.int32)
        return np.concatenate([self.definitions, made])

    def _come_last(self, number: int, event: UnwoundStep) -> None:
        """Where a thread has stopped, it reads behind all that the others do."""
        if self.late == FALSE or not _is_shared(self.events[number]):
            return
        stays = [] if event.is_beginning else [_negate(self.term(event.arrives))]
        for others in self.ordered:
            for other in others:
                if self.events[other].thread != self.events[number].thread:
                    goes = _negate(self.term(self.events[other].event.go))
                    terms = [self.term(event.go), *stays, goes, self.before(other, number)]
                    self.add(_negate(self.term(self.late)), *terms)

    def _make_transitive(self) -> None:
        for one, other in combinations(self.ordered, 2):
            for first, second in product(range(len(one)), range(len(other))):
                now = self.before(one[first], other[second])
                if first:
                    self.add(_negate(now), self.before(one[first - 1], other[second]))
                if second + 1 < len(other):
                    self.add(_negate(now), self.before(one[first], other[second + 1]))
        for one, other, third in combinations(self.ordered, 3):
            for e, f, g in product(one, other, third):
                ef, fg, ge = self.before(e, f), self.before(f, g), self.before(g, e)
                self.add(_negate(ef), _negate(fg), _negate(ge))
                self.add(ef, fg, ge)

    def _read(self, reading: CellReading) -> None:
        """Let what is read come from a write, with no other one between."""
        number, address = reading.event, reading.address
        event = self.events[number].event
        writes = {
            each: self.term(literal)
            for each, literal in self.writes.get(address, {}).items()
            if each != number and self.before(number, each) is not True
        }
        others = {
            each: self.term(literal)
            for each, literal in self.writes.get(address, {}).items()
            if each != number
        }
        bits = [
            (place, self.writer.literal(leaf))
            for place, leaf in enumerate(event.before[address])
            if self.writer.has(leaf)
        ]
        sources: list[Term] = [_negate(self.term(reading.condition))]
        first = self.writer.new_variable()
        sources.append(first)
        self._equate(first, bits, self.shared.first_bits(address))
        for each, written in others.items():
            self.add(-first, _negate(written), self.before(number, each))
        for source, written in writes.items():
            chosen = self.writer.new_variable()
            sources.append(chosen)
            self.add(-chosen, written)
            self.add(-chosen, self.before(source, number))
            self._equate(chosen, bits, self.events[source].event.after[address])
            for each, also in others.items():
                if each != source:
                    between = (self.before(each, source), self.before(number, each))
                    self.add(-chosen, _negate(also), *between)
        self.add(*sources)

    def _equate(self, chosen: int, bits: list[tuple[int, int]], values: Sequence[int]) -> None:
        for place, leaf in bits:
            value = self.term(values[place])
            self.add(-chosen, -leaf, value)
            self.add(-chosen, leaf, _negate(value))

    # --- a model --------------------------------------------------------------------------------

    def sort(self, going: Sequence[int], values: dict[int, int]) -> list[int]:
        """The events that go in one order: shared ones as a model says, others when needed."""
        chosen = set(going)
        rank = {
            number: sum(
                self._holds(self.before(other, number), values)
                for others in self.ordered
                for other in others
                if other != number
            )
            for thread in self.ordered
            for number in thread
            if number in chosen
        }
        left = {
            thread: [n for n in going if self.events[n].thread == thread]
            for thread in {self.events[n].thread for n in going}
        }
        found: list[int] = []
        for number in sorted(rank, key=rank.__getitem__):
            own = left[self.events[number].thread]
            until = own.index(number) + 1
            found += own[:until]
            del own[:until]
        return [*found, *(n for own in left.values() for n in own)]

    @staticmethod
    def _holds(term: Term, values: dict[int, int]) -> bool:
        if isinstance(term, bool):
            return term
        return bool(values[abs(term)]) == (term > 0)


def _is_shared(placed: PlacedEvent) -> bool:
    return bool(placed.event.reads or placed.event.writes)


def _negate(term: Term) -> Term:
    return (not term) if isinstance(term, bool) else -term
