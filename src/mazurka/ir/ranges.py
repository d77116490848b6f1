"""Derives the ranges of cells whose range nobody declared.

Abstract interpretation (Cousot and Cousot, POPL 1977) over each thread's automaton.  A thread's
own locals are followed from location to location.  Shared cells, and locals that another thread
writes, have one *summary* for all times: their initial value and everything ever stored.  Facts
about shared cells are kept only as long as a step lasts (`mazurka.ir.facts`).

Why it is right: let X hold every reachable state, location by location and in the summary.
Then one more application of all edges to X, together with the initial state, holds every
reachable state too.  The ascending phase ends with such an X; each narrowing round is one more
application, so stopping after any number of rounds is right.

A store outside a declared range is a fault, so execution does not go on with that value.
Arithmetic that may leave 64 bits is refused, unless the program's numbers are meant to wrap.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mazurka.errors import MazurkaError
from mazurka.ir.facts import Facts, Recorder
from mazurka.ir.overflow import refuse_overflow
from mazurka.ir.program import WRONG, Cell, Edge, Mode, Program, Role
from mazurka.ir.tracking import Tracking, plan, thresholds
from mazurka.ir.values import EMPTY, MOST_ADDRESSES, MOST_POINTS, ValueSet, from_points

EXACT_VISITS = 24
"""Facts grow member by member this often, and longer while they can be listed."""
THRESHOLD_VISITS = 120
"""From here on a growing end goes to infinity at once."""
NARROWING_ROUNDS = 3

_LISTED_ROLES = frozenset({Role.POINTER, Role.HANDLE, Role.COUNTER, Role.OWNER})


class UnboundedError(MazurkaError):
    """A cell for which no range is declared and none can be derived."""


@dataclass(frozen=True)
class Inference:
    """What the analysis found out."""

    program: Program
    """The same program, all ranges filled in."""
    at: tuple[Mapping[int, Mapping[int, ValueSet]], ...]
    """For each thread, for each location it can reach, what its local cells hold there; a cell
    that is not mentioned holds what `cells` says."""
    cells: tuple[ValueSet, ...]
    """For each cell all values it can ever hold."""

    def lookup(self, address: int) -> ValueSet:
        return self.cells[address] if 0 < address < len(self.cells) else EMPTY


def infer_ranges(program: Program, *, wraps: bool = False) -> Inference:
    """Find the values of all cells; `wraps` says that overflow is meant, as C's `unsigned`."""
    analysis = _Analysis(program, wraps)
    analysis.ascend()
    for _ in range(NARROWING_ROUNDS):
        if not analysis.narrow():
            break
    values = analysis.all_values()
    _refuse_unbounded(program, values)
    cells = tuple(map(_filled, program.cells, values))
    at = tuple(thread.known for thread in analysis.threads)
    result = Inference(replace(program, cells=cells), at, values)
    if not wraps:
        refuse_overflow(result.program, result.at, result.lookup)
    return result


def _filled(cell: Cell, values: ValueSet) -> Cell:
    listed = values.points
    if listed is not None and len(listed) > MOST_POINTS:
        listed = None
    if cell.inferred:
        low, high = values.low, values.high
        return replace(cell, low=low, high=high, points=listed, inferred=False)
    return replace(cell, points=listed) if listed and cell.role in _LISTED_ROLES else cell


def _refuse_unbounded(program: Program, values: tuple[ValueSet, ...]) -> None:
    unbounded = [
        address
        for address, cell in enumerate(program.cells)
        if cell.inferred and values[address].is_extreme
    ]
    if not unbounded:
        return
    # One endless counter spreads to all that copies it; the shared one is likely the cause.
    cells = program.cells
    worst = min(unbounded, key=lambda a: (cells[a].span is None, cells[a].owner is not None, a))
    cell, short = cells[worst], cells[worst].name.rsplit(".", 1)[-1]
    falls = values[worst].low < min(cell.initial, 0)
    low = min(cell.initial, -10 if falls else 0)
    raise UnboundedError(
        f"no range can be derived for `{cell.name}` (it may grow without limit); declare it, "
        f"for example `{short}: Int[{low}, {max(cell.initial, 10)}] = {cell.initial}`",
        file=cell.span.file if cell.span else None,
        line=cell.span.line if cell.span else None,
    )


class _ThreadFacts:
    """What the analysis knows about one thread."""

    def __init__(self, program: Program, number: int, tracking: Tracking) -> None:
        thread = program.threads[number]
        self.thread = thread
        self.tracking = tracking
        self.start = program.cells[thread.counter].initial
        self.known: dict[int, dict[int, ValueSet]] = {}
        """For each reached location the facts on arrival."""
        self.results: dict[int, dict[int, ValueSet]] = {}
        """For each edge that can be taken the facts at its end."""
        self.visits: dict[int, int] = defaultdict(int)
        self.jumps: set[int] = set()
        """Locations that some store to the program counter names: creation starts there."""
        self.most_choices = max((edge.choices for edge in thread.edges), default=1)
        self.queue: list[tuple[int, int]] = []
        self.queued: set[int] = set()

    def enqueue(self, location: int) -> None:
        if location not in self.queued:
            self.queued.add(location)
            heapq.heappush(self.queue, (self.tracking.rank[location], location))

    def dequeue(self) -> int:
        location = heapq.heappop(self.queue)[1]
        self.queued.discard(location)
        return location


class _Analysis:
    def __init__(self, program: Program, wraps: bool) -> None:
        self.program = program
        self.cells = program.cells
        self.saturate = not wraps
        self.thresholds = thresholds(program)
        self.threads = [
            _ThreadFacts(program, number, plan(program, number))
            for number in range(len(program.threads))
        ]
        self.counters = {thread.counter: number for number, thread in enumerate(program.threads)}
        self.summary = [ValueSet.of(cell.initial) for cell in self.cells]
        self.resting = [{facts.start, WRONG} for facts in self.threads]
        self.growth: dict[int, int] = defaultdict(int)
        self.readers: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self.exposed: set[int] = set()
        """Locals that another thread writes: nothing is known about them between steps."""
        self.reader = (0, 0)
        self.ascending = True
        self.patience = 5000 + 5 * len(program.edges)
        """How many visits may be spent on growing member by member."""

    # -- the summary ---------------------------------------------------------------------

    def elsewhere(self, address: int) -> ValueSet:
        if not 0 < address < len(self.cells):
            return EMPTY
        self.readers[address].add(self.reader)
        return self.value(address)

    def value(self, address: int) -> ValueSet:
        number = self.counters.get(address)
        if number is None:
            return self.summary[address]
        return self.summary[address].join(
            from_points(self.resting[number], MOST_ADDRESSES), MOST_ADDRESSES
        )

    def all_values(self) -> tuple[ValueSet, ...]:
        return tuple(self.value(address) for address in range(len(self.cells)))

    def room(self, address: int) -> int:
        role = self.cells[address].role
        return MOST_ADDRESSES if role in (Role.POINTER, Role.COUNTER) else MOST_POINTS

    def grow(self, address: int, values: ValueSet) -> None:
        """Add stored values to the summary, and look again at whoever depends on it."""
        old = self.summary[address]
        owner = self.cells[address].owner
        if owner is not None and owner != self.reader[0] and address not in self.counters:
            self.expose(address, owner)
        if values is old or values.is_subset(old):
            return
        new = old.join(values, self.room(address))
        self.growth[address] += 1
        if self.growth[address] > EXACT_VISITS and address not in self.counters:
            new = self.widened(old, new, self.growth[address])
        self.summary[address] = new
        if address in self.counters:
            self.jump(self.counters[address], new)
        self.notify(address)

    def widened(self, old: ValueSet, new: ValueSet, visits: int) -> ValueSet:
        if new.points is not None and self.patience > 0:
            return new
        stops = self.thresholds if visits <= THRESHOLD_VISITS else ()
        return old.widen(new, stops)

    def notify(self, address: int) -> None:
        for number, location in self.readers.pop(address, ()):
            self.threads[number].enqueue(location)

    def expose(self, address: int, owner: int) -> None:
        if address in self.exposed:
            return
        self.exposed.add(address)
        facts = self.threads[owner]
        for known in (*facts.known.values(), *facts.results.values()):
            known.pop(address, None)
        for location in facts.known:
            facts.enqueue(location)

    def jump(self, number: int, counters: ValueSet) -> None:
        """Another thread may put this one anywhere it stores into its program counter."""
        facts = self.threads[number]
        inside = counters.clip(0, len(facts.thread.locations) - 1)
        for location in inside.points or range(inside.low, inside.high + 1):
            if location != facts.start and location not in facts.jumps:
                facts.jumps.add(location)
                self.reach(number, location)
                facts.enqueue(location)

    # -- going up ------------------------------------------------------------------------

    def ascend(self) -> None:
        for number, facts in enumerate(self.threads):
            self.begin(number, facts)
        while any(facts.queue for facts in self.threads):
            for number, facts in enumerate(self.threads):
                while facts.queue:
                    self.visit(number, facts.dequeue(), self.grow)

    def begin(self, number: int, facts: _ThreadFacts) -> None:
        facts.known[facts.start] = self.initial(number)
        facts.enqueue(facts.start)

    def initial(self, number: int) -> dict[int, ValueSet]:
        followed = self.followed(number, self.threads[number].start)
        return {address: ValueSet.of(self.cells[address].initial) for address in followed}

    def followed(self, number: int, location: int) -> list[int]:
        cells = self.threads[number].tracking.followed[location]
        return [address for address in cells if address not in self.exposed]

    def reach(self, number: int, location: int) -> None:
        facts = self.threads[number]
        facts.known.setdefault(location, {})
        atomic = facts.thread.locations[location].mode is Mode.ATOMIC
        if not atomic and location not in self.resting[number]:
            self.resting[number].add(location)
            self.notify(facts.thread.counter)

    def visit(self, number: int, location: int, record: Recorder) -> None:
        """Take all edges of a location, from what is known there."""
        facts = self.threads[number]
        self.reader = number, location
        self.patience -= 1
        facts.visits[location] += 1
        if location in facts.jumps:
            # A thread that is created anew may still hold values of its former life.
            facts.known[location] = {
                address: self.elsewhere(address) for address in self.followed(number, location)
            }
        for position in facts.thread.outgoing[location]:
            edge = facts.thread.edges[position]
            result = self.take(facts, edge, facts.known[location], record)
            if result is None:
                facts.results.pop(position, None)
                continue
            arriving = self.arriving(number, edge.target, result)
            facts.results[position] = arriving
            if self.ascending:
                self.merge(number, edge.target, arriving)

    def take(
        self, facts: _ThreadFacts, edge: Edge, known: dict[int, ValueSet], record: Recorder
    ) -> dict[int, ValueSet] | None:
        """The facts after an edge; None if it cannot be taken, or always ends in a fault."""
        now = Facts(dict(known), self.elsewhere, facts.most_choices, self.saturate)
        if edge.guard is not None and not now.assume(edge.guard):
            return None
        now.choices = edge.choices
        for operation in edge.operations:
            if not now.perform(operation, self.cells, record):
                return None
        return now.known

    def arriving(
        self, number: int, location: int, known: dict[int, ValueSet]
    ) -> dict[int, ValueSet]:
        """What remains known where an edge ends: all within a step, else what is followed."""
        place = self.threads[number].thread.locations[location]
        if place.mode is Mode.ATOMIC:
            kept = {a: values for a, values in known.items() if self.kept(number, location, a)}
        else:
            kept = {a: known[a] for a in self.followed(number, location) if a in known}
        for address in place.resets:
            if address in kept:
                kept[address] = kept[address].join(ValueSet.of(self.cells[address].initial))
        return kept

    def kept(self, number: int, location: int, address: int) -> bool:
        if self.cells[address].owner != number or address in self.exposed:
            return True
        return address in self.threads[number].tracking.followed[location]

    def merge(self, number: int, location: int, arriving: dict[int, ValueSet]) -> None:
        facts = self.threads[number]
        known = facts.known.get(location)
        if known is None:
            facts.known[location] = dict(arriving)
            self.reach(number, location)
            facts.enqueue(location)
            return
        if location in facts.jumps:
            return
        changed = False
        widening = location in facts.tracking.heads and facts.visits[location] > EXACT_VISITS
        for address, old in list(known.items()):
            values = arriving.get(address)
            if values is old or (values is not None and values.is_subset(old)):
                continue
            changed = True
            if values is None:
                del known[address]
                continue
            new = old.join(values, self.room(address))
            known[address] = self.widened(old, new, facts.visits[location]) if widening else new
        if changed:
            facts.enqueue(location)

    # -- going down ----------------------------------------------------------------------

    def narrow(self) -> bool:
        """Apply all edges once more to what is known; whether that made anything smaller."""
        fresh = [ValueSet.of(cell.initial) for cell in self.cells]

        def collect(address: int, values: ValueSet) -> None:
            fresh[address] = fresh[address].join(values, self.room(address))

        self.ascending = False
        changed = False
        for number, facts in enumerate(self.threads):
            for location in sorted(facts.known, key=facts.tracking.rank.__getitem__):
                changed |= self.renew(number, location)
                if location in facts.known:
                    self.visit(number, location, collect)
            modes = [location.mode for location in facts.thread.locations]
            at_rest = {location for location in facts.known if modes[location] is not Mode.ATOMIC}
            changed |= not self.resting[number] <= (at_rest | {facts.start, WRONG})
            self.resting[number] = at_rest | {facts.start, WRONG}
        changed |= fresh != self.summary
        self.summary = fresh
        return changed

    def renew(self, number: int, location: int) -> bool:
        """Derive the facts of a location from the edges that lead there."""
        facts = self.threads[number]
        if location in facts.jumps:
            return False
        parts = [facts.results[p] for p in facts.tracking.arriving[location] if p in facts.results]
        if location == facts.start:
            parts.append(self.initial(number))
        old = facts.known[location]
        if not parts:
            del facts.known[location]
            for position in facts.thread.outgoing[location]:
                facts.results.pop(position, None)
            return True
        new = dict(parts[0])
        for part in parts[1:]:
            for address in list(new):
                if address in part:
                    new[address] = new[address].join(part[address], self.room(address))
                else:
                    del new[address]
        facts.known[location] = new
        return new != old
