"""Reset dead local cells, so that states which differ only in dead values are one state.

Backward: a local cell is *live* at a location if some path from there reads it before writing
it.  Forward: it is *dirty* where it may differ from its initial value.  A thread that comes to
rest resets the cells that are dirty and dead there; a cell that is neither dirty nor live at any
location where the thread rests takes no bits in a state (`mazurka.ir.native.layout`).

A thread that is started again, while it runs or after it has ended, has its local cells as it
left them.  Those that it may read first, and that not every such start writes, are *carried over*
and live everywhere, including FINISHED and WRONG.

Sets of cells are Python integers used as bit sets: bit i is the thread's i-th local cell.

**Starts.**  A thread is started by a store into its program counter.  The edge that does it may
have checked that the thread is IDLE, in its guard or in a check before the store.  If it has not,
the thread might be started *again*, whatever its location, with its local cells as they are.
That cannot happen if one thread, which itself is started once, makes all the stores, and no such
store follows another on any path: consider the first moment at which any thread is started that is
not IDLE; its creator has followed one path by then.

Stores through a pointer with almost any target count as starts on `create` edges only; other edges
must not write program counters (`docs/semantics.md`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mazurka.deadline import check_time
from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import (
    IDLE,
    WRONG,
    Assign,
    Check,
    Edge,
    Kind,
    Mode,
    Program,
    Thread,
    search_depth_first,
)
from mazurka.ir.values.evaluation import evaluate
from mazurka.ir.values.footprints import Footprints

PHASE = "looking for dead variables"


@dataclass(frozen=True, slots=True)
class Start:
    """A store into the program counter of another thread."""

    thread: int
    creator: int
    edge: Edge
    location: int | None
    """The location at which the thread starts; None if it is not constant."""
    given: frozenset[int]
    """Cells that the edge has certainly written by then."""
    sees_idle: bool


def find_starts(footprints: Footprints) -> dict[int, list[Start]]:
    """Find for each thread the stores by which other threads start it."""
    program = footprints.program
    starts: dict[int, list[Start]] = {}
    for creator, thread in enumerate(program.threads):
        for edge in thread.edges:
            for start in _find_edge_starts(footprints, creator, edge):
                begins = program.cells[program.threads[start.thread].counter].initial
                if not start.sees_idle or begins == IDLE:
                    starts.setdefault(start.thread, []).append(start)
    return starts


def find_restarts(footprints: Footprints) -> dict[int, list[Start]]:
    """Find the threads that might be started again, and the stores that might do it."""
    program, starts = footprints.program, find_starts(footprints)
    again = {number for number in starts if not all(each.sees_idle for each in starts[number])}
    once: set[int] = set()
    while more := {
        number
        for number in again - once
        if _happens_once(program, number, starts[number], again - once)
    }:
        once |= more
    return {
        number: [start for start in starts[number] if not start.sees_idle]
        for number in sorted(again - once)
    }


def _happens_once(program: Program, number: int, starts: list[Start], again: set[int]) -> bool:
    """Whether at most one of the stores is ever made, while the thread is IDLE."""
    creators = {start.creator for start in starts}
    idle = program.cells[program.threads[number].counter].initial == IDLE
    if not idle or len(creators) > 1 or creators & again:
        return False
    (creator,) = creators
    sources = {start.edge.source for start in starts}
    thread = program.threads[creator]
    return not any(sources & thread.reachable(start.edge.target) for start in starts)


def _find_edge_starts(footprints: Footprints, creator: int, edge: Edge) -> Iterator[Start]:
    counters = {thread.counter: n for n, thread in enumerate(footprints.program.threads)}
    del counters[footprints.program.threads[creator].counter]
    idle = {find_idle_address(part) for part in conjuncts(edge.guard)}
    given: set[int] = set()
    for operation in edge.operations:
        if isinstance(operation, Check):
            idle |= {find_idle_address(part) for part in conjuncts(operation.condition)}
            continue
        value, seen = operation.value, operation.address in idle
        location = value.value if isinstance(value, Const) else None
        reached = evaluate(operation.address, footprints.lookup, edge.choices)
        if reached.points is not None or edge.kind is Kind.CREATE:
            for address in filter(reached.contains, counters):
                started = counters[address]
                yield Start(started, creator, edge, location, frozenset(given), seen)
        if isinstance(operation.address, Const):
            given.add(operation.address.value)
        idle = _keep_idle(footprints, edge, operation, idle)


def _keep_idle(
    footprints: Footprints, edge: Edge, store: Assign, idle: set[Expr | None]
) -> set[Expr | None]:
    """Return the addresses that are known to hold IDLE and are not changed by a store."""
    written = set(footprints.targets(store.address, edge.choices))
    return {
        address
        for address in idle
        if address is not None
        and written.isdisjoint(footprints.loads(address, edge.choices))
        and written.isdisjoint(footprints.targets(address, edge.choices))
    }


def find_idle_address(part: Expr) -> Expr | None:
    """Return the address that holds IDLE if a condition is true."""
    match part:
        case Binary("eq", Load(address), Const(value)) if value == IDLE:
            return address
        case Binary("eq", Const(value), Load(address)) if value == IDLE:
            return address
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Effect:
    """The effect of an edge on local cells: live before = uses | (live after & ~kills)."""

    uses: int
    kills: int
    writes: int


def reset_dead_locals(program: Program) -> Program:
    """Return the program with `Location.resets` filled in."""
    footprints = Footprints(program)
    foreign = _find_written_by_others(program, footprints)
    starts = find_restarts(footprints)
    threads = tuple(
        _reset_thread(_Locals(footprints, number, thread, foreign, starts.get(number, [])))
        for number, thread in enumerate(program.threads)
    )
    return replace(program, threads=threads)


def find_carried_over(program: Program) -> dict[int, frozenset[int]]:
    """Find for each thread that might be started again the local cells that it carries over."""
    footprints = Footprints(program)
    found = {}
    for number, starts in find_restarts(footprints).items():
        cells = _Locals(footprints, number, program.threads[number], set(), starts)
        found[number] = frozenset(cells.addresses(cells.carried(cells.reads_first())))
    return found


def _find_written_by_others(program: Program, footprints: Footprints) -> set[int]:
    """Find local cells that another thread writes: parameters of a thread that it creates."""
    return {
        address
        for number, thread in enumerate(program.threads)
        for edge in thread.edges
        for address in footprints.of_edge(edge).writes
        if program.cells[address].owner not in (None, number)
    }


def _reset_thread(cells: _Locals) -> Thread:
    thread = cells.thread
    live = cells.live()
    dirty = cells.dirty(live)
    locations = []
    for location, place in enumerate(thread.locations):
        check_time(PHASE)
        dead = dirty[location] & ~live[location] if can_rest(thread, location) else 0
        locations.append(replace(place, resets=cells.addresses(dead)))
    return replace(thread, locations=tuple(locations))


def can_rest(thread: Thread, location: int) -> bool:
    """Whether a step of the thread can end at a location, other than by a fault or a start.

    Only there are cells reset: in a long function without shared accesses nearly all locations are
    merged, and each would list all locals before it."""
    mode = thread.locations[location].mode
    if mode is Mode.MERGED:
        return not thread.is_exhaustive(location)
    return mode is Mode.VISIBLE


def find_stored_locals(program: Program) -> set[int]:
    """Find the local cells that can differ from their initial values while their thread rests."""
    footprints = Footprints(program)
    foreign = _find_written_by_others(program, footprints)
    stored: set[int] = set(foreign)
    for number, thread in enumerate(program.threads):
        cells = _Locals(footprints, number, thread, foreign, [])
        kept = [~cells.mask(location.resets) for location in thread.locations]
        dirty = cells.dirty(kept)
        for location in range(len(thread.locations)):
            check_time(PHASE)
            if can_rest(thread, location):
                stored.update(cells.addresses(dirty[location] & kept[location]))
    return stored


class _Locals:
    """The data-flow problems over one thread's local cells."""

    def __init__(
        self,
        footprints: Footprints,
        number: int,
        thread: Thread,
        foreign: set[int],
        starts: list[Start],
    ) -> None:
        self.thread = thread
        self.cells = [
            address
            for address, cell in enumerate(footprints.program.cells)
            if cell.owner == number and address != thread.counter
        ]
        self.bits = {address: 1 << position for position, address in enumerate(self.cells)}
        self.effects = [_find_effect(footprints, edge, self.bits) for edge in thread.edges]
        roots = (thread.entry, *range(len(thread.locations)))
        self.backwards, _ = search_depth_first(roots, thread.successors)
        """Locations in postorder: those to which an edge leads come first, loops aside."""
        self.given = self.mask(tuple(foreign))
        self.starts = starts

    def mask(self, addresses: tuple[int, ...]) -> int:
        return sum(self.bits.get(address, 0) for address in addresses)

    def addresses(self, mask: int) -> tuple[int, ...]:
        """List the cells of a set; most sets are small, whatever the number of cells."""
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self.cells[lowest.bit_length() - 1])
            mask ^= lowest
        return tuple(found)

    def live(self) -> list[int]:
        """Find what some path from each location, or from a later start, reads before a write."""
        live = self.reads_first()
        carried = self.carried(live)
        return [cells | carried for cells in live]

    def carried(self, live: list[int]) -> int:
        """Find the cells that some start does not write, and some path from there reads first."""
        carried = 0
        for start in self.starts:
            there = live if start.location is None else live[start.location : start.location + 1]
            for cells in there:
                carried |= cells & ~self.mask(tuple(start.given))
        return carried

    def reads_first(self) -> list[int]:
        """Find what some path from each location reads before writing it."""
        thread = self.thread
        live = [0] * len(thread.locations)
        changed = True
        while changed:
            changed = False
            for location in self.backwards:
                check_time(PHASE)
                before = live[location]
                for position in thread.outgoing[location]:
                    effect, after = self.effects[position], live[thread.edges[position].target]
                    before |= effect.uses | (after & ~effect.kills)
                if before != live[location]:
                    live[location] = before
                    changed = True
        return live

    def dirty(self, kept: list[int]) -> list[int]:
        """Find what may differ from its initial value on arrival at each location.

        `kept` says which cells a rest there does not reset.  A thread that passes a merged location
        resets nothing, so only visible locations reset cells along a path.
        """
        thread = self.thread
        dirty = [0] * len(thread.locations)
        dirty[thread.entry] = self.given
        changed = True
        while changed:
            changed = False
            for location in reversed(self.backwards):
                check_time(PHASE)
                leaving = dirty[location]
                if thread.locations[location].mode is Mode.VISIBLE:
                    leaving &= kept[location]
                for position in thread.outgoing[location]:
                    target = thread.edges[position].target
                    after = dirty[target] | leaving | self.effects[position].writes
                    if after != dirty[target]:
                        dirty[target] = after
                        changed = True
        for effect in self.effects:
            dirty[WRONG] |= effect.writes  # a fault can come from the middle of any edge
        dirty[WRONG] |= self.given
        return dirty


def _find_effect(footprints: Footprints, edge: Edge, bits: dict[int, int]) -> _Effect:
    uses = kills = writes = 0

    def read(expr: Expr) -> None:
        nonlocal uses
        for address in footprints.loads(expr, edge.choices):
            uses |= bits.get(address, 0) & ~kills

    if edge.guard is not None:
        read(edge.guard)
    for operation in edge.operations:
        if not isinstance(operation, Assign):
            read(operation.condition)
            continue
        read(operation.address)
        read(operation.value)
        for address in footprints.targets(operation.address, edge.choices):
            writes |= bits.get(address, 0)
        if isinstance(operation.address, Const):
            kills |= bits.get(operation.address.value, 0)
    return _Effect(uses, kills, writes)
