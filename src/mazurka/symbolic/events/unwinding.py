"""The steps that a thread can take, one behind the other, with what they read left open.

A thread's automaton is unwound: each location where it rests is encoded once for each *pass*, in an
order in which most steps lead forward (`mazurka.symbolic.interleavings.sweeps`); a step that leads
back begins the next pass.  An event (`UnwoundStep`) is one such step.  It takes place as a whole,
so what it does to several cells is one event, and atomic sections need nothing further.

What nobody else can change is known along the way, as words over the inputs (static single
assignment).  What others may write is a new leaf in every event that reads it;
`mazurka.symbolic.events.ordering` says where its value comes from.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from mazurka.ir.expressions import Const
from mazurka.ir.program import (
    DEAD_ENDS,
    FIRST_LOCATION,
    IDLE,
    WRONG,
    Assign,
    Edge,
)
from mazurka.ir.values.footprints import Footprints
from mazurka.symbolic.circuit import UNROLLING
from mazurka.symbolic.environment import Environment, Places
from mazurka.symbolic.graphs.graph import FALSE, TRUE
from mazurka.symbolic.graphs.words import Word, width_for
from mazurka.symbolic.interleavings.earliest import find_conflicting_cells, find_own_cells
from mazurka.symbolic.interleavings.sweeps import rank_locations
from mazurka.symbolic.outlook import StepOutlook
from mazurka.symbolic.record import ChoiceKey, StepRecord
from mazurka.symbolic.steps import StepEncoder


@dataclass
class UnwoundStep:
    """A step that a thread may take at a certain point of its code."""

    thread: int
    location: int
    go: int
    """An input: the thread takes the step, or fails in it."""
    arrives: int
    """The thread has come here."""
    moved: int
    choices: dict[ChoiceKey, Word]
    failures: dict[str, int]
    """By fault, and by what is not known, where it fails; given that it goes."""
    reads: dict[int, int]
    """By shared cell the condition under which it is read."""
    writes: dict[int, int]
    before: dict[int, list[int]]
    """The bits of the shared cells that it reads: leaves."""
    after: dict[int, list[int]]
    """The bits of the shared cells that it writes."""
    is_beginning: bool = False
    """Whether the thread is here only if another one has started it."""
    acts: int = FALSE
    """It could move or fail, with some choice; the same for the others."""
    waits: int = FALSE
    stopped: int = FALSE
    attempts: dict[int, int] = field(default_factory=dict)
    """By shared cell whether it is read with some choice."""


class SharedCells:
    """Which cells belong to the order of events, and how their bits are written."""

    def __init__(self, encoder: StepEncoder) -> None:
        self.encoder, self.program = encoder, encoder.program
        self.conflicts = find_conflicting_cells(encoder.footprints)
        self.own = [find_own_cells(self.program, n) for n in range(len(self.program.threads))]
        self.thread_of = encoder.bits.thread_of

    def bounds(self, address: int) -> tuple[int, int]:
        cell = self.program.cells[address]
        return min(cell.low, cell.initial), max(cell.high, cell.initial)

    def is_stored(self, address: int) -> bool:
        """Whether the cell can hold more than one value."""
        return bool(self.encoder.layout.slots[address].width)

    def first_bits(self, address: int) -> list[int]:
        thread, initial = self.thread_of.get(address), self.program.cells[address].initial
        if thread is not None:
            return [int(place == initial) for place in self.encoder.layout.starts[thread]]
        words = self.encoder.words
        return words.literals(words.constant(initial), self._width(address))

    def bits(self, address: int, word: Word) -> list[int]:
        return self.encoder.words.literals(word, self._width(address))

    def _width(self, address: int) -> int:
        return width_for(*self.bounds(address))


class _OpenCells(dict[int, Word]):
    """The cells as one event sees them: known ones, and new leaves for those that others write."""

    def __init__(self, shared: SharedCells, thread: int, known: dict[int, Word]) -> None:
        super().__init__(known)
        self.shared, self.reads = shared, shared.conflicts[thread][0]
        self.leaves: dict[int, Word] = {}
        for address in self.reads:
            self.pop(address, None)

    def __missing__(self, address: int) -> Word:
        shared, words = self.shared, self.shared.encoder.words
        if address in self.reads and shared.is_stored(address):
            found = words.add_leaves(*shared.bounds(address))
            self.leaves[address] = found
        else:
            found = words.constant(shared.program.cells[address].initial)
        self[address] = found
        return found


@dataclass
class Arriving:
    """A way to a location, with what the thread knows then."""

    condition: int
    known: dict[int, Word]


class ThreadUnwinding:
    """The events of one thread, in program order."""

    def __init__(
        self,
        shared: SharedCells,
        thread: int,
        most_passes: int,
        *,
        standing: bool,
        look: Callable[[], None],
    ) -> None:
        """`standing`: work out where the thread cannot move, whatever it chooses; `look` is called
        for each event, and may end it all."""
        self.shared, self.encoder, self.thread = shared, shared.encoder, thread
        self.graph, self.words = self.encoder.graph, self.encoder.words
        self.program, self.standing, self.look = shared.program, standing, look
        self.automaton = self.program.threads[thread]
        self.most_passes = most_passes
        self.ranks = rank_locations(self.encoder, thread)
        self.events: list[UnwoundStep] = []
        self.passes = 0
        """How many passes there are."""
        self.beyond = FALSE
        """The thread goes on behind the last pass."""
        self.wrong = FALSE
        """It has failed, and others go on."""
        self.stranded = FALSE
        """It has come to where no edge leads away."""
        self.ended = FALSE
        """It has ended the process."""
        self.waiting: dict[tuple[int, int], list[Arriving]] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.queue: list[tuple[int, int]] = []
        self._unwind()

    def _unwind(self) -> None:
        first = self.program.cells[self.automaton.counter].initial
        begun = first if first >= FIRST_LOCATION else self.automaton.entry
        if first not in (begun, IDLE):
            return
        self._arrive(begun, Arriving(TRUE, {}), (0, -1))
        is_beginning = first == IDLE
        while self.queue:
            now = heapq.heappop(self.queue)
            self._take(now, self.waiting.pop(now), is_beginning=is_beginning)
            is_beginning = False

    def _arrive(self, location: int, arriving: Arriving, now: tuple[int, int]) -> None:
        if location < FIRST_LOCATION:
            if location == WRONG:
                self.wrong = self.graph.either(self.wrong, arriving.condition)
            return
        if location in self.automaton.ends:
            self.ended = self.graph.either(self.ended, arriving.condition)
            return
        if not self.automaton.outgoing[location]:
            self.stranded = self.graph.either(self.stranded, arriving.condition)
            return
        rank = self.ranks[location]
        then = now[0] + (rank <= now[1]), rank
        if then[0] >= self.most_passes:
            self.beyond = self.graph.either(self.beyond, arriving.condition)
            return
        if then not in self.waiting:
            heapq.heappush(self.queue, then)
            self.places[then] = location
        self.waiting.setdefault(then, []).append(arriving)

    def _merge(self, parts: list[Arriving]) -> Arriving:
        if len(parts) == 1:
            return parts[0]
        condition = self.graph.some(part.condition for part in parts)
        known = {}
        for address in dict.fromkeys(a for part in parts for a in part.known):
            initial = self.words.constant(self.program.cells[address].initial)
            cases = [(part.condition, part.known.get(address, initial)) for part in parts]
            known[address] = self.words.pick(cases, None)
        return Arriving(condition, known)

    def _take(self, now: tuple[int, int], parts: list[Arriving], *, is_beginning: bool) -> None:
        self.look()
        here, location = self._merge(parts), self.places[now]
        if here.condition == FALSE:
            return
        graph, encoder = self.graph, self.encoder
        cells = _OpenCells(self.shared, self.thread, here.known)
        tables = self._open_places()
        encoder.choices = {}
        record = encoder.encode(Environment(cells, tables), self.thread, location)
        arrives, event_reads = here.condition, self._conditions(record, 0)
        counter = self.automaton.counter
        writes = self._conditions(record, 1) if record.moved != FALSE else {}
        after = {address: self._after(record, cells, address) for address in writes}
        before: dict[int, list[int]] = {address: [] for address in event_reads}
        before |= {
            address: self.words.literals(word)
            for address, word in cells.leaves.items()
            if address in event_reads
        }
        for number, table in enumerate(tables):
            other = self.program.threads[number].counter
            if number != self.thread and other in event_reads:
                before[other] = list(table.values())
        if is_beginning:
            own = {place: graph.add_leaf() for place in encoder.layout.starts[self.thread]}
            before[counter], event_reads[counter] = list(own.values()), TRUE
            arrives = own[location]
        event = UnwoundStep(
            thread=self.thread,
            location=location,
            go=graph.add_leaf(),
            arrives=arrives,
            moved=record.moved,
            choices=encoder.choices,
            failures=self._find_failures(record),
            reads=event_reads,
            writes=writes,
            before=before,
            after=after,
            is_beginning=is_beginning,
        )
        if self.standing:
            self._find_attempts(event, record)
        self.events.append(event)
        self.passes = now[0] + 1
        self._go_on(event, record, here, now)

    def _open_places(self) -> list[Places]:
        """The places of the threads as an event sees them."""
        touched = self.shared.conflicts[self.thread][0] | self.shared.conflicts[self.thread][1]
        found: list[Places] = []
        for number, automaton in enumerate(self.program.threads):
            starts = self.encoder.layout.starts[number]
            if number == self.thread or automaton.counter not in touched:
                found.append(dict.fromkeys(starts, FALSE))
            else:
                found.append({place: self.graph.add_leaf() for place in starts})
        return found

    def _conditions(self, record: StepRecord, kind: int) -> dict[int, int]:
        """When a step reads (0) or writes (1) the cells that others may touch.  Its own cells are
        not part of the footprint: they count as touched in every step.  (Nobody starts a thread
        again, so what it reads of its own program counter is known.)"""
        recorded = (record.reads, record.writes)[kind]
        own, counter = self.shared.own[self.thread], self.automaton.counter
        found = {}
        for address in sorted(self.shared.conflicts[self.thread][kind]):
            if not self.shared.is_stored(address) or (kind == 0 and address == counter):
                continue
            literal = TRUE if address in own else self.graph.some(recorded.get(address, ()))
            if literal != FALSE:
                found[address] = literal
        return found

    def _after(self, record: StepRecord, cells: _OpenCells, address: int) -> list[int]:
        thread = self.shared.thread_of.get(address)
        if thread is not None:
            return list(record.places[thread].values())
        word = record.cells.get(address)
        return self.shared.bits(address, cells[address] if word is None else word)

    def _find_failures(self, record: StepRecord) -> dict[str, int]:
        failures = {
            str(fault): literal
            for fault, literal in record.faults.items()
            if fault not in record.survived and literal != FALSE
        }
        if record.beyond != FALSE:
            failures[UNROLLING] = record.beyond
        return failures

    def _find_attempts(self, event: UnwoundStep, record: StepRecord) -> None:
        """What the thread could do with some choice."""
        outlook = StepOutlook(self.encoder, Environment({}, []))
        wanted = [record.acts, record.waits, record.stopped, *event.reads.values()]
        found = outlook.quantify(record, wanted)
        event.acts, event.waits, event.stopped = found[:3]
        event.attempts = dict(zip(event.reads, found[3:], strict=True))

    def _go_on(
        self, event: UnwoundStep, record: StepRecord, here: Arriving, now: tuple[int, int]
    ) -> None:
        shared_reads = self.shared.conflicts[self.thread][0]
        by_location: dict[int, list[Arriving]] = {}
        for condition, location, view in record.arrivals:
            known = dict(here.known)
            for address, word in view.cells.items():
                if address not in shared_reads and self.shared.is_stored(address):
                    known[address] = word
            taken = self.graph.both(event.go, condition)
            by_location.setdefault(location, []).append(Arriving(taken, known))
        for location, parts in by_location.items():
            merged = self._merge(parts)
            if merged.condition != FALSE:
                self._arrive(location, merged, now)


def find_other_start(footprints: Footprints, restartable: frozenset[int]) -> Edge | None:
    """An edge by which a thread begins anywhere but at its entry, or perhaps once more."""
    program = footprints.program
    counters = {thread.counter: n for n, thread in enumerate(program.threads)}
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            for operation in edge.operations:
                if not isinstance(operation, Assign):
                    continue
                for address in footprints.targets(operation.address, edge.choices):
                    other = counters.get(address)
                    if other is None or other == number:
                        continue
                    entry = Const(program.threads[other].entry)
                    if other in restartable or operation.value != entry:
                        return edge
    return None


def is_unknown(name: str) -> bool:
    """Whether a failure is of a step that is not known."""
    return name == UNROLLING or name in {str(fault) for fault in DEAD_ENDS}
