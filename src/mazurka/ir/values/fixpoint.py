"""The abstract interpretation that `mazurka.ir.passes.ranges` uses.

`ascend` adds the results of edges until nothing is new, and widens if that would take long;
`narrow` applies all edges once more, which removes what widening added needlessly.

Only local cells that the thread names directly are followed from location to location, and only
where they may still be read: this keeps the facts of a large thread small.  Cells that are not
followed are covered by the summary of all stores, so this choice does not affect soundness.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mazurka.deadline import check_time
from mazurka.ir.expressions import Binary, Const, Convert, Element, Expr, Load, children, walk
from mazurka.ir.program import (
    WRONG,
    Assign,
    Cell,
    Edge,
    Kind,
    Mode,
    Program,
    Role,
    search_depth_first,
)
from mazurka.ir.values.edge_results import EdgeResult, WatchedFacts, follow_edge
from mazurka.ir.values.evaluation import (
    EMPTY,
    MOST_ADDRESSES,
    MOST_POINTS,
    ValueSet,
    find_window,
    from_points,
)
from mazurka.ir.values.facts import Recorder, clip_to_cell


@dataclass(frozen=True)
class Tracking:
    """The order in which a thread's locations are visited, and the cells that are followed."""

    rank: tuple[int, ...]
    """The position of each location in reverse postorder: loops come after what leads to them."""
    heads: frozenset[int]
    """Locations such that every cycle of the automaton passes through one of them."""
    followed: tuple[tuple[int, ...], ...]
    """For each location the local cells that are followed there."""


def make_plan(program: Program, number: int) -> Tracking:
    thread = program.threads[number]
    roots = (thread.entry, *range(len(thread.locations)))
    finished, heads = search_depth_first(roots, thread.successors)
    order = finished[::-1]
    rank = [0] * len(thread.locations)
    for place, location in enumerate(order):
        rank[location] = place
    followed = _track_live(program, number, order)
    return Tracking(tuple(rank), frozenset(heads), followed)


def _track_live(program: Program, number: int, order: list[int]) -> tuple[tuple[int, ...], ...]:
    """Backward liveness of directly named local cells, with integers as bit sets."""
    thread = program.threads[number]
    bits: dict[int, int] = {}
    effects = [_effect(program, number, edge, bits) for edge in thread.edges]
    live = [0] * len(thread.locations)
    changed = True
    while changed:
        changed = False
        for location in reversed(order):
            check_time("deriving ranges")
            mask = live[location]
            for position in thread.outgoing[location]:
                uses, kills = effects[position]
                mask |= uses | (live[thread.edges[position].target] & ~kills)
            if mask != live[location]:
                live[location] = mask
                changed = True
    shared: dict[int, tuple[int, ...]] = {}
    addresses = list(bits)
    for mask in live:
        if mask not in shared:
            shared[mask] = tuple(_members(mask, addresses))
    return tuple(shared[mask] for mask in live)


def _members(mask: int, addresses: list[int]) -> Iterator[int]:
    """Iterate over the addresses whose bits are in a set; most sets are small."""
    while mask:
        lowest = mask & -mask
        yield addresses[lowest.bit_length() - 1]
        mask ^= lowest


def _effect(program: Program, number: int, edge: Edge, bits: dict[int, int]) -> tuple[int, int]:
    """Return the named local cells that an edge reads before writing them, and those it writes."""
    counter = program.threads[number].counter
    uses = kills = 0

    def bit(address: int) -> int:
        local = 0 < address < len(program.cells) and program.cells[address].owner == number
        if not local or address == counter:
            return 0
        return bits.setdefault(address, 1 << len(bits))

    def read(expr: Expr) -> None:
        nonlocal uses
        for part in walk(expr):
            if isinstance(part, Load) and isinstance(part.address, Const):
                uses |= bit(part.address.value) & ~kills

    if edge.guard is not None:
        read(edge.guard)
    for operation in edge.operations:
        if isinstance(operation, Assign):
            read(operation.address)
            read(operation.value)
            if isinstance(operation.address, Const):
                kills |= bit(operation.address.value)
        else:
            read(operation.condition)
    return uses, kills


def find_thresholds(program: Program) -> tuple[int, ...]:
    """Return numbers at which a growing range is likely to stop: constants, and neighbours."""
    numbers: set[int] = {0}
    for cell in program.cells:
        if not cell.inferred:
            numbers.update((cell.low, cell.high))
        if cell.role is not Role.POINTER:
            numbers.add(cell.initial)
    for edge in program.edges:
        numbers.add(edge.choices - 1)
        for expr in _expressions(edge, program.cells):
            numbers.update(_numbers(expr, program.cells))
    return tuple(sorted({number + step for number in numbers for step in (-1, 0, 1)}))


def _expressions(edge: Edge, cells: Sequence[Cell]) -> Iterator[Expr]:
    """Iterate over the expressions of an edge in which there may be numbers."""
    if edge.guard is not None:
        yield edge.guard
    for operation in edge.operations:
        if not isinstance(operation, Assign):
            yield operation.condition
        elif not (
            isinstance(operation.value, Const) and _is_pointer(Load(operation.address), cells)
        ):
            yield operation.value


def _numbers(expr: Expr, cells: Sequence[Cell]) -> Iterator[int]:
    """Iterate over the constants of an expression that are not addresses."""
    waiting = [expr]
    while waiting:
        match waiting.pop():
            case Const(value):
                yield value
            case Load(Const()):
                pass
            case Binary(_, left, Const()) if _is_pointer(left, cells):
                waiting.append(left)
            case Element(Const(), index):
                waiting.append(index)
            case Convert(operand, width, signed):
                yield from find_window(width, signed)
                waiting.append(operand)
            case other:
                waiting.extend(children(other))


def _is_pointer(expr: Expr, cells: Sequence[Cell]) -> bool:
    """Whether an expression is a pointer, moved perhaps: what it is compared with is an address."""
    match expr:
        case Load(Const(address)):
            return 0 < address < len(cells) and cells[address].role is Role.POINTER
        case Binary("add" | "sub", left, _):
            return _is_pointer(left, cells)
        case Element():
            return True
        case _:
            return False


EXACT_VISITS = 24
"""The number of visits in which facts grow by single members; more while they can be listed."""
FEW_VISITS = 3
"""The same, after a large program has used up `Analysis.patience`."""
THRESHOLD_VISITS = 120
"""The number of visits after which a growing end goes to infinity at once."""
LEAST_ENDURANCE = 20_000
ENDURANCE = 40
"""How many edges are followed, and how many more for each edge of the program, before every end
that still grows goes to infinity at once; after twice as many, sets of places do so, too."""
MOST_TARGETS = 256
"""Sets of the places that a pointer leads to are not widened while they have so many members."""


class ThreadFacts:
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
        self.followed = list(tracking.followed)
        """For each location the followed local cells, without those that another thread writes."""
        self.growth: dict[tuple[int, int], int] = defaultdict(int)
        """How often the facts about a cell have grown at a location."""
        self.jumps: set[int] = set()
        """Locations at which another thread may start this one, by a store to its counter."""
        self.most_choices = max((edge.choices for edge in thread.edges), default=1)
        self.remembered: dict[int, EdgeResult] = {}
        """What each edge did when it was followed last, by its identity."""
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


class Analysis:
    """The facts about a whole program, on their way to a fixpoint."""

    def __init__(self, program: Program, wraps: bool) -> None:
        self.program = program
        self.cells = program.cells
        self.saturate = not wraps
        self.thresholds = find_thresholds(program)
        self.threads = [
            ThreadFacts(program, number, make_plan(program, number))
            for number in range(len(program.threads))
        ]
        self.counters = {thread.counter: number for number, thread in enumerate(program.threads)}
        self.summary = [ValueSet.of(cell.initial) for cell in self.cells]
        self.room = [
            MOST_ADDRESSES if cell.role in (Role.POINTER, Role.COUNTER) else MOST_POINTS
            for cell in self.cells
        ]
        """The most values of each cell that are listed."""
        self.resting = [{facts.start, WRONG} for facts in self.threads]
        self.growth: dict[int, int] = defaultdict(int)
        self.readers: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self.exposed: set[int] = set()
        """Locals that another thread writes; only the summary is known about them between steps."""
        self.reader = (0, 0)
        self.ascending = True
        self.overshot = False
        """Whether something was widened, so that narrowing can help."""
        self.patience = 1500 + 2 * len(program.edges)
        """How many visits are left in which facts may grow by single members."""
        self.endurance = LEAST_ENDURANCE + ENDURANCE * len(program.edges)
        self.work = 0
        """How many edges have been followed; one that carries many facts counts more than once."""

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

    def grow(self, address: int, values: ValueSet) -> None:
        """Add stored values to the summary, and visit again all locations that have read it."""
        old = self.summary[address]
        owner = self.cells[address].owner
        if address in self.counters:
            self.start_again(self.counters[address], values)
        elif owner is not None and owner != self.reader[0]:
            self.expose(address, owner)
        if values is old or values.is_subset(old):
            return
        new = old.join(values, self.room[address])
        self.growth[address] += 1
        if self.growth[address] > self.exact_visits() and address not in self.counters:
            new = self.widen(address, old, new, self.growth[address])
        self.summary[address] = new
        if address in self.counters:
            self.jump(self.counters[address], new)
        self.notify(address)

    def exact_visits(self) -> int:
        return EXACT_VISITS if self.patience > 0 else FEW_VISITS

    def widen(self, address: int, old: ValueSet, new: ValueSet, visits: int) -> ValueSet:
        """Take larger steps than one member at a time, where there is no patience left.

        The places that a pointer leads to are few, and an interval of addresses would be the whole
        memory: such sets grow by single members while they are small."""
        cell = self.cells[address]
        if new.points is not None:
            few = cell.role is Role.POINTER and len(new.points) <= MOST_TARGETS
            if (few and self.work <= 2 * self.endurance) or self.patience > 0:
                return clip_to_cell(cell, new)
        self.overshot = True
        tired = visits > THRESHOLD_VISITS or self.work > self.endurance
        stops = () if tired else self.thresholds
        return clip_to_cell(cell, old.widen(new, stops))

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
        facts.followed = [
            tuple(other for other in cells if other != address) for cells in facts.followed
        ]
        for location in facts.known:
            facts.enqueue(location)

    def jump(self, number: int, counters: ValueSet) -> None:
        """Note that another thread may start this one at the locations in `counters`."""
        facts = self.threads[number]
        inside = counters.clip(0, len(facts.thread.locations) - 1)
        for location in inside.points or range(inside.low, inside.high + 1):
            if location != facts.start and location not in facts.jumps:
                facts.jumps.add(location)
                self.reach(number, location)
                facts.enqueue(location)

    def start_again(self, number: int, counters: ValueSet) -> None:
        """Note that another thread may start this one again, with any values in its local cells."""
        facts, (creator, location) = self.threads[number], self.reader
        if facts.start in facts.jumps or not counters.contains(facts.start):
            return
        creating = self.threads[creator].thread.edges_at(location)
        if creator != number and any(edge.kind is Kind.CREATE for edge in creating):
            facts.jumps.add(facts.start)
            facts.known[facts.start] = {}
            facts.enqueue(facts.start)

    # -- going up ------------------------------------------------------------------------

    def ascend(self) -> None:
        for number, facts in enumerate(self.threads):
            self.begin(number, facts)
        while any(facts.queue for facts in self.threads):
            for number, facts in enumerate(self.threads):
                while facts.queue:
                    self.visit(number, facts.dequeue(), self.grow)

    def begin(self, number: int, facts: ThreadFacts) -> None:
        facts.known[facts.start] = self.initial(number)
        facts.enqueue(facts.start)

    def initial(self, number: int) -> dict[int, ValueSet]:
        followed = self.followed(number, self.threads[number].start)
        return {address: ValueSet.of(self.cells[address].initial) for address in followed}

    def followed(self, number: int, location: int) -> tuple[int, ...]:
        return self.threads[number].followed[location]

    def reach(self, number: int, location: int) -> None:
        facts = self.threads[number]
        facts.known.setdefault(location, {})
        atomic = facts.thread.locations[location].mode is Mode.ATOMIC
        if not atomic and location not in self.resting[number]:
            self.resting[number].add(location)
            self.notify(facts.thread.counter)

    def visit(self, number: int, location: int, record: Recorder) -> None:
        """Take all edges of a location, from what is known there."""
        check_time("deriving ranges")
        facts = self.threads[number]
        self.reader = number, location
        self.patience -= 1
        self.work += len(facts.thread.outgoing[location]) * (1 + len(facts.known[location]) // 32)
        if location in facts.jumps:
            # A thread that is started again may still have values from its run before.
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
        self, facts: ThreadFacts, edge: Edge, known: dict[int, ValueSet], record: Recorder
    ) -> dict[int, ValueSet] | None:
        """Return the facts after an edge; None if it is never taken, or always ends in a fault."""
        result = facts.remembered.get(id(edge))
        if result is not None and result.fits(known, self.elsewhere):
            result.repeat(record)
        else:
            now = WatchedFacts(
                dict(known), self.elsewhere, facts.most_choices, self.saturate, EdgeResult()
            )
            result = follow_edge(edge, known, now, self.cells, record)
            facts.remembered[id(edge)] = result
        return result.behind(known)

    def arriving(
        self, number: int, location: int, known: dict[int, ValueSet]
    ) -> dict[int, ValueSet]:
        """Return what is still known where an edge ends: all within a step, else followed cells."""
        place = self.threads[number].thread.locations[location]
        if place.mode is Mode.ATOMIC:
            kept = {a: values for a, values in known.items() if self.kept(number, location, a)}
        else:
            kept = {a: known[a] for a in self.followed(number, location) if a in known}
        for address in place.resets:
            if address in kept:
                initial = ValueSet.of(self.cells[address].initial)
                kept[address] = kept[address].join(initial, self.room[address])
        return kept

    def kept(self, number: int, location: int, address: int) -> bool:
        if self.cells[address].owner != number or address in self.exposed:
            return True
        return address in self.followed(number, location)

    def merge(self, number: int, location: int, arriving: dict[int, ValueSet]) -> None:
        facts = self.threads[number]
        known = facts.known.get(location)
        if known is None:
            facts.known[location] = dict(arriving)
            self.reach(number, location)
            facts.enqueue(location)
            return
        if location in facts.jumps or arriving == known:
            return
        if location != facts.start and len(facts.thread.arriving[location]) == 1:
            # Only one edge leads here: its facts are all the facts.
            facts.known[location] = dict(arriving)
            facts.enqueue(location)
            return
        head = location in facts.tracking.heads
        grown: dict[int, ValueSet] = {}
        lost = [address for address in known if address not in arriving]
        for address in lost:
            del known[address]
        for address, old in known.items():
            values = arriving[address]
            if values is not old and not values.is_subset(old):
                new = old.join(values, self.room[address])
                if head:
                    # Counted for each cell: an inner loop is visited often, but the counter of
                    # the loop around it seldom grows there, and its limit is found if it is not
                    # widened with the others.
                    facts.growth[location, address] += 1
                    times = facts.growth[location, address]
                    if times > self.exact_visits():
                        new = self.widen(address, old, new, times)
                grown[address] = new
        if grown or lost:
            known.update(grown)
            facts.enqueue(location)

    # -- going down ----------------------------------------------------------------------

    def narrow(self) -> bool:
        """Apply all edges once more to what is known; return whether a set became smaller."""
        fresh = [ValueSet.of(cell.initial) for cell in self.cells]

        def collect(address: int, values: ValueSet) -> None:
            fresh[address] = fresh[address].join(values, self.room[address])

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
        parts = [facts.results[p] for p in facts.thread.arriving[location] if p in facts.results]
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
                    new[address] = new[address].join(part[address], self.room[address])
                else:
                    del new[address]
        facts.known[location] = new
        return new != old
