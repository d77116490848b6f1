"""Queues whose two ends are independent: who puts, who gets, and who looks.

A put and a get of one queue touch the same cells, the count and the slots, and commute all the
same unless the queue is empty or full.  SPIN lets a model declare that only one process sends to a
channel and only one receives (`xs`, `xr`; Holzmann and Peled, *An Improvement in Formal
Verification*, FORTE 1994).  Here it is found out.  `find_channels` recognizes the queues of a
program that are used by puts and gets alone, and gives each of them two *ends*, which are cells
that no state has: a put uses the one, a get the other.  Two puts conflict, and so do two gets; a
put and a get do not.

| step | enabled, it uses | blocked, it waits for |
|---|---|---|
| put | the putting end | a get: it reads the getting end |
| get | the getting end | a put: it reads the putting end |
| one of several queues (`select`) | the getting ends, and reads the putting ends | puts |
| look at the count | reads both ends | |
| a section that does more than that | both ends | both ends |

**Why they commute.**  Let a get and a put both be enabled: 0 < count < capacity.  The get takes the
item of slot 0, moves the others up by one, and subtracts one; the put writes slot `count`, and adds
one.  *Get first*: the items 1 ... count-1 are in slots 0 ... count-2, and the put writes slot
count-1.  *Put first*: the items 1 ... count-1 and the new one are in the slots 1 ... count, and the
get moves them up: the new one is in slot count-1.  Slots behind move up by one in both orders, and
the last one is set to the same constant.  So both orders lead to the same state, the get takes the
same item, and the put, whose item does not depend on the queue, fails in both or in neither: all
slots have the same range.  A get never disables a put, and a put never disables a get.

*Empty and full.*  An enabled get stays enabled whatever puts happen, so nothing but other gets can
interfere with it.  A get that is blocked finds the queue empty; no other get is possible either,
and it stays blocked until somebody puts.  In the same way a put waits for gets.  Neither is true of
`select`: with one queue empty and another not, a put gives it one more way to go on.  So a
`select` reads the putting ends.  But what it does, once it has chosen, is a get.  If a queue counts
only under a condition, what the condition reads is in the footprint of the step, possible or not,
and a queue at which it looks is looked at (both ends).

*Rendezvous channels* have the same two ends; offering an item and seeing that it was taken are the
sender's.  At any time only one of the three operations is possible, and only another one of the
same end could come before it.  One that is blocked waits for both ends.

**Queues without a bound.**  A put that finds all slots taken passes a bound of the analysis (fault
`bound`), and in another order there may have been room.  Let P be the program, and Q the same one
with an endless row of slots.  In Q the argument above holds for every put.  What the analyses know
of P is true of Q as well: the values of all slots are the same, and nothing but puts and gets reads
the count (a queue without a bound at which somebody looks is left out).  So a reduced search of Q
is sound.  As long as it never puts into a full queue, it is also a search of P, and it is this one:
its *holds* is about Q, in which nothing is bounded.  Where the unreduced search ends at a bound,
and is inconclusive, a reduced one may so find an answer.  No other violation of P is lost: an
execution that leads to one puts into no full queue, and moving a get forward leaves more room.

**What is recognized.**  Each edge is judged by what it does (`mazurka.ir.queues`), not by its name.
A queue is left out if any edge that may write its cells does anything but put or get, if its slots
differ in their ranges, or if it overlaps with another queue.  Items, conditions and targets must
not touch the queue, and its address must not depend on what the edge writes.

*Which edge a step takes* must not depend on the other end: a thread that gets an item if there is
one, and else does something else, sees a put although it is not blocked.  So if several edges leave
the location of a put or get, they must exclude each other by a cell of the thread's own, as those
of `select` do.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from mazurka.analysis.cell_sets import NOTHING, CellSets, bits
from mazurka.analysis.ownership import reach
from mazurka.ir import queues
from mazurka.ir.expressions import Binary, Const, Element, Expr, Load
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import (
    FIRST_LOCATION,
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Mode,
    Operation,
    Program,
    Thread,
)
from mazurka.ir.values.footprints import Footprints

KEY = "_channels"


class End(enum.Enum):
    """The two ends of a queue, in the order of their cells."""

    PUTTING = 0
    GETTING = 1

    @property
    def other(self) -> End:
        return End.GETTING if self is End.PUTTING else End.PUTTING


@dataclass(frozen=True, slots=True)
class Form:
    """The layout of a queue; a rendezvous channel has capacity 0."""

    capacity: int
    width: int

    @property
    def size(self) -> int:
        return 1 + max(self.capacity, 1) * self.width

    @property
    def most(self) -> int:
        """The largest value of the first cell."""
        return self.capacity or queues.TAKEN


@dataclass(frozen=True, slots=True)
class QueueUse:
    """An edge that does nothing to a queue but put an item in or take one out."""

    end: End
    base: Expr
    form: Form
    rest: tuple[Expr, ...]
    """What else the edge evaluates, and the addresses of what it writes: not cells of the queue."""
    waits: bool = True
    """Whether it waits for room; else it passes a bound of the analysis where there is none."""


def recognize(edge: Edge) -> QueueUse | None:
    """Find out whether an edge puts into one queue, or gets from one."""
    for match in (_match_put, _match_get, _match_offer, _match_take, _match_end):
        use = match(edge)
        if use is not None:
            return use
    return None


def _match_put(edge: Edge) -> QueueUse | None:
    found = _find_stores(edge)
    if found is None:
        return None
    first, base, form, fields = found
    capacity, behind = form.capacity, first + form.width + 1
    if edge.operations[first:behind] != queues.put_item(base, capacity, fields):
        return None
    room = queues.has_room(base, capacity)
    outside = [*edge.operations[:first], *edge.operations[behind:]]
    waits, conditions = _require(edge.guard, room)
    if not waits:
        limits = [operation for operation in outside[:first] if _is_limit(operation, room)]
        if len(limits) != 1:
            return None
        outside.remove(limits[0])
    rest = (*conditions, *fields, *_evaluated(outside))
    return QueueUse(End.PUTTING, base, form, rest, waits)


def _find_stores(edge: Edge) -> tuple[int, Expr, Form, list[Expr]] | None:
    """Find where an edge may put in an item: the first operation, the queue and the fields."""
    for last, operation in enumerate(edge.operations):
        match operation, edge.operations[last - 1]:
            case (
                Assign(base, Binary("add", Load(counted), _)),
                Assign(Element(_, _, capacity, width), _),
            ) if base == counted and 0 < width <= last:
                stores = edge.operations[last - width : last]
                fields = [store.value for store in stores if isinstance(store, Assign)]
                return last - width, base, Form(capacity, width), fields
    return None


def _is_limit(operation: Operation, room: Expr) -> bool:
    return (
        isinstance(operation, Check)
        and operation.condition == room
        and operation.fault is Fault.BOUND
    )


def _match_get(edge: Edge) -> QueueUse | None:
    base = _base_of(edge.guard, "gt")
    if base is None or not edge.operations:
        return None
    waits, conditions = _require(edge.guard, queues.has_item(base))
    targets = _find_targets(edge, base)
    width, stores = len(targets), edge.stores
    if not waits or not width or len(stores) != len(edge.operations):
        return None
    capacity, over = divmod(len(stores) - 1 - width, width)
    if over or capacity < 1:
        return None
    empty = [store.value for store in stores[-1 - width : -1]]
    if tuple(stores) != queues.get_item(base, capacity, targets, empty):
        return None
    rest = (*conditions, *targets, *empty, *map(Load, targets))
    return QueueUse(End.GETTING, base, Form(capacity, width), rest)


def _match_offer(edge: Edge) -> QueueUse | None:
    base = _base_of(edge.guard, "eq")
    if base is None or len(edge.operations) < 2:
        return None
    waits, conditions = _require(edge.guard, queues.has_status(base, queues.FREE))
    fields = [store.value for store in edge.stores[:-1]]
    if not waits or edge.operations != queues.offer_item(base, fields):
        return None
    return QueueUse(End.PUTTING, base, Form(0, len(fields)), (*conditions, *fields))


def _match_take(edge: Edge) -> QueueUse | None:
    base = _base_of(edge.guard, "eq")
    if base is None:
        return None
    waits, conditions = _require(edge.guard, queues.has_status(base, queues.OFFERED))
    targets, stores = _find_targets(edge, base), edge.stores
    empty = [store.value for store in stores[len(targets) : -1]]
    if not waits or not targets or len(empty) != len(targets):
        return None
    if edge.operations != queues.take_offer(base, targets, empty):
        return None
    rest = (*conditions, *targets, *empty, *map(Load, targets))
    return QueueUse(End.GETTING, base, Form(0, len(targets)), rest)


def _match_end(edge: Edge) -> QueueUse | None:
    base = _base_of(edge.guard, "eq")
    if base is None:
        return None
    waits, conditions = _require(edge.guard, queues.has_status(base, queues.TAKEN))
    if not waits or edge.operations != queues.end_offer(base):
        return None
    return QueueUse(End.PUTTING, base, Form(0, 0), tuple(conditions))


def _base_of(guard: Expr | None, operator: str) -> Expr | None:
    """Find the address of the cell that the last condition of a guard compares."""
    match conjuncts(guard)[-1:]:
        case [Binary(found, Load(base), Const())] if found == operator:
            return base
    return None


def _require(guard: Expr | None, condition: Expr) -> tuple[bool, list[Expr]]:
    """Return whether a guard requires a condition, and what else it requires."""
    parts = conjuncts(guard)
    return condition in parts, [part for part in parts if part != condition]


def _find_targets(edge: Edge, base: Expr) -> list[Expr]:
    """Find where the fields of the first item go."""
    targets: list[Expr] = []
    for store in edge.stores:
        slot = Load(queues.cell_at(base, 1 + len(targets)))
        if store.value != slot or store.address == queues.cell_at(base, 1):
            break
        targets.append(store.address)
    return targets


def _evaluated(operations: Iterable[Operation]) -> Iterator[Expr]:
    """Iterate over what operations read and where they write, as expressions to be checked."""
    for operation in operations:
        if isinstance(operation, Assign):
            yield from (operation.value, operation.address, Load(operation.address))
        else:
            yield operation.condition


@dataclass(frozen=True, slots=True)
class TwoEndedQueue:
    """A queue whose ends are independent."""

    base: int
    form: Form
    putting: int
    """The bit of the putting end; that of the getting end is the next."""

    @property
    def cells(self) -> range:
        return range(self.base, self.base + self.form.size)

    def at(self, end: End) -> int:
        return 1 << self.putting + end.value

    @property
    def both(self) -> int:
        return self.at(End.PUTTING) | self.at(End.GETTING)


@dataclass(slots=True)
class EdgeUse:
    """What an edge does to channels: it uses one end of one of them, or looks at some."""

    end: End | None = None
    of: list[TwoEndedQueue] = field(default_factory=list)
    looks_at: list[TwoEndedQueue] = field(default_factory=list)


class Channels:
    """The channels of a program, and what edges and steps use of them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.uses = [[recognize(edge) for edge in each.edges] for each in program.threads]
        """By thread and edge."""
        self.channels = self._find_channels()
        self.cells = bits(cell for channel in self.channels.values() for cell in channel.cells)
        """The cells of all channels; what is done to them shows in their ends instead."""
        self.of_edge = [
            [self._relate(number, position) for position in range(len(each.edges))]
            for number, each in enumerate(program.threads)
        ]
        """By thread and edge; None where it has nothing to do with a channel."""
        self._lone = [self._find_lone(number) for number in range(len(program.threads))]
        """By thread: the edges that are, in every step that takes them, all that the step does."""

    # --- which queues are channels --------------------------------------------------------------

    def _find_channels(self) -> dict[int, TwoEndedQueue]:
        forms = self._find_forms()
        for base in [base for base, form in forms.items() if not self._is_uniform(base, form)]:
            del forms[base]
        spoiled = self._find_spoiled(forms) | self._find_preferred(forms)
        for base in self._find_overlapping(forms) | spoiled:
            del forms[base]
        first = len(self.program.cells)
        return {
            base: TwoEndedQueue(base, form, first + 2 * number)
            for number, (base, form) in enumerate(sorted(forms.items(), key=lambda each: each[0]))
        }

    def _targets(self, edge: Edge, use: QueueUse) -> tuple[int, ...]:
        return self.footprints.targets(use.base, edge.choices)

    def _all_uses(self) -> Iterator[tuple[Edge, QueueUse | None]]:
        for thread, uses in zip(self.program.threads, self.uses, strict=True):
            yield from zip(thread.edges, uses, strict=True)

    def _find_forms(self) -> dict[int, Form]:
        """Find the first cells of queues that are used in one form only."""
        found: dict[int, set[Form]] = {}
        ended: set[int] = set()
        for edge, use in self._all_uses():
            if use is None:
                continue
            for base in self._targets(edge, use):
                if use.form.width:
                    found.setdefault(base, set()).add(use.form)
                else:
                    ended.add(base)
        return {
            base: next(iter(forms))
            for base, forms in found.items()
            if len(forms) == 1 and not (base in ended and next(iter(forms)).capacity)
        }

    def _is_uniform(self, base: int, form: Form) -> bool:
        cells = self.program.cells[base : base + form.size]
        if len(cells) < form.size or any(cell.owner is not None for cell in cells):
            return False
        count, slots = cells[0], cells[1:]
        if count.low > 0 or count.high < form.most or not 0 <= count.initial <= form.most:
            return False
        return all(len(set(map(_values, slots[n :: form.width]))) == 1 for n in range(form.width))

    def _find_overlapping(self, forms: dict[int, Form]) -> set[int]:
        found: set[int] = set()
        end, last = 0, 0
        for base in sorted(forms):
            if base < end:
                found |= {last, base}
            if base + forms[base].size > end:
                end, last = base + forms[base].size, base
        return found

    def _find_spoiled(self, forms: dict[int, Form]) -> set[int]:
        """Find the queues to which some edge does anything else, or whose bound somebody sees."""
        if not forms:
            return set()
        base_of = {base + n: base for base, form in forms.items() for n in range(form.size)}
        spoiled: set[int] = set()
        looked_at: set[int] = set()
        unbounded: set[int] = set()
        for edge, use in self._all_uses():
            touched = self.footprints.of_edge(edge)
            for cells, found in ((touched.writes, spoiled), (touched.reads, looked_at)):
                bases = {base_of[cell] for cell in cells if cell in base_of}
                found |= bases - self._only_uses(edge, use, bases, base_of)
            if use is not None and not use.waits:
                unbounded.update(self._targets(edge, use))
        return spoiled | looked_at & unbounded & forms.keys()

    def _only_uses(
        self, edge: Edge, use: QueueUse | None, bases: set[int], base_of: dict[int, int]
    ) -> set[int]:
        """Find those of the queues that an edge touches by its put or get alone."""
        if use is None:
            return set()
        written = self.footprints.of_edge(edge).writes
        if not written.isdisjoint(self.footprints.loads(use.base, edge.choices)):
            return set()
        others = {
            base_of.get(cell)
            for expr in (*use.rest, use.base)
            for cell in self.footprints.loads(expr, edge.choices)
        }
        return bases.intersection(self._targets(edge, use)) - others

    def _find_preferred(self, forms: dict[int, Form]) -> set[int]:
        """Find the queues that decide which of several edges is taken."""
        found: set[int] = set()
        for number, (thread, uses) in enumerate(zip(self.program.threads, self.uses, strict=True)):
            for positions in thread.outgoing:
                using = [(thread.edges[each], uses[each]) for each in positions]
                if any(use for _, use in using) and not self._exclude_each_other(number, positions):
                    for edge, use in using:
                        found.update(self._targets(edge, use) if use else ())
        return found & forms.keys()

    def _exclude_each_other(self, number: int, positions: Sequence[int]) -> bool:
        """Whether a cell of the thread's own tells for each two edges which one is not taken."""
        edges = self.program.threads[number].edges
        required = [self._find_required(number, edges[position]) for position in positions]
        return all(
            any(first.get(cell, value) != value for cell, value in second.items())
            for first, second in combinations(required, 2)
        )

    def _find_required(self, number: int, edge: Edge) -> dict[int, int]:
        """Find the values that the guard of an edge requires of cells of the thread's own."""
        found, cells = dict[int, int](), self.program.cells
        for part in conjuncts(edge.guard):
            match part:
                case Binary("eq", Load(Const(cell)), Const(value)):
                    if 0 < cell < len(cells) and cells[cell].owner == number:
                        found[cell] = value
        return found

    # --- what edges do to them ------------------------------------------------------------------

    def _relate(self, number: int, position: int) -> EdgeUse | None:
        edge, use = self.program.threads[number].edges[position], self.uses[number][position]
        if not self.channels:
            return None
        touched = self.footprints.of_edge(edge)
        reached = bits(touched.reads | touched.writes) & self.cells
        if not reached:
            return None
        found = EdgeUse()
        if use is not None:
            targets = self._targets(edge, use)
            found.of = [self.channels[base] for base in targets if base in self.channels]
            found.end = use.end if found.of else None
        for channel in self.channels.values():
            if channel not in found.of and bits(channel.cells) & reached:
                found.looks_at.append(channel)
        return found

    def _find_lone(self, number: int) -> frozenset[int]:
        thread = self.program.threads[number]
        found: set[int] = set()
        spoiled: set[int] = set()
        if not any(self.of_edge[number]):
            return frozenset()
        for location in range(FIRST_LOCATION, len(thread.locations)):
            if thread.locations[location].mode is not Mode.ATOMIC:
                edges = reach(thread, location).edges
                using = {each for each in edges if self.of_edge[number][each] is not None}
                (found if self._is_alone(number, edges, using) else spoiled).update(using)
        return frozenset(found - spoiled)

    def _is_alone(self, number: int, edges: tuple[int, ...], using: set[int]) -> bool:
        """Whether a step consists of one put or get and of what nobody else can see."""
        thread = self.program.threads[number]
        for position in edges:
            if position not in using:
                touched = self.footprints.of_edge(thread.edges[position])
                if not touched.only_own(self.program, number):
                    return False
                continue
            use, own = self.of_edge[number][position], self.uses[number][position]
            if use is None or own is None or use.looks_at or use.end is None:
                return False
            if len(use.of) != len(self._targets(thread.edges[position], own)):
                return False
            if self._goes_on(thread, position) & using:
                return False
        return True

    def _goes_on(self, thread: Thread, position: int) -> set[int]:
        """Find the edges that a step may take behind an edge."""
        target = thread.edges[position].target
        if thread.locations[target].mode is Mode.VISIBLE:
            return set()
        return set(reach(thread, target).edges)

    def is_lone(self, thread: int, position: int) -> bool:
        """Whether a put or get is all that others can see of the steps that take an edge."""
        return position in self._lone[thread]

    # --- as sets of cells -----------------------------------------------------------------------

    def taking(self, thread: int, position: int) -> CellSets:
        """Return what an edge uses of the ends of channels when it is taken."""
        use = self.of_edge[thread][position]
        if use is None:
            return NOTHING
        found = CellSets(reads=_join(channel.both for channel in use.looks_at))
        if use.end is None:
            return found
        if position in self._lone[thread]:
            ends = _join(channel.at(use.end) for channel in use.of)
        else:
            ends = _join(channel.both for channel in use.of)
        return found | CellSets(ends, ends)

    def attempting(self, thread: int, location: int) -> CellSets:
        """Return what a step from a location reads of the ends besides, if it is enabled."""
        if not self.channels or self._leads_to_one(thread, location):
            return NOTHING
        return self.waiting(thread, location)

    def waiting(self, thread: int, location: int) -> CellSets:
        """Return what a step from a location reads of the ends if it is blocked there."""
        found = 0
        if not self.channels:
            return NOTHING
        for position in reach(self.program.threads[thread], location).edges:
            use = self.of_edge[thread][position]
            if use is not None and use.end is not None:
                for channel in use.of:
                    wanted = channel.at(use.end.other) if channel.form.capacity else channel.both
                    found |= wanted
        return CellSets(reads=found)

    def _leads_to_one(self, thread: int, location: int) -> bool:
        """Whether every step from a location takes the same edge that uses a channel."""
        automaton = self.program.threads[thread]
        seen: set[int] = set()
        while location not in seen:
            seen.add(location)
            leaving = automaton.outgoing[location]
            if len(leaving) != 1:
                return not any(
                    self.of_edge[thread][each] for each in reach(automaton, location).edges
                )
            if leaving[0] in self._lone[thread]:
                return True
            location = automaton.edges[leaving[0]].target
            if automaton.locations[location].mode is Mode.VISIBLE:
                return True
        return True


def _values(cell: Cell) -> tuple[int, int, tuple[int, ...] | None]:
    return cell.low, cell.high, cell.points


def _join(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


def find_channels(program: Program) -> Channels:
    """Return the channels of a program; they are cached in it."""
    kept: Channels | None = program.__dict__.get(KEY)
    if kept is None:
        kept = program.__dict__[KEY] = Channels(program)
    return kept
