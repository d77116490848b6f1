"""Static locksets: which cells threads share, and which locks they hold at every access.

After Savage, Burrows, Nelson, Sobalvarro, Anderson, *Eraser: A Dynamic Data Race Detector for
Multithreaded Programs* (1997): the candidate locks of a cell are those held at every access to it.
Eraser observes executions; here every edge that may touch the cell counts, so that the answer
holds for all executions.

*Held at an access* means: before the step that makes it, or after.  A step that takes the lock and
touches the cell (a condition's wake-up) or touches the cell and releases the lock (its wait)
excludes other holders just as well: two such steps of different threads cannot follow one another
without a release in the first and an acquisition in the second.  For a step of several edges it is
not enough that the lock is held on the edge that touches the cell: an atomic section that takes and
releases the lock holds it neither before nor after.  A step that can fail may end at that point,
with the locks held there.

The analysis does not follow whether a non-blocking acquire has succeeded, or whether a recursive
lock is still held after an inner release; in both cases the lock counts as not held.

*Deviations from Eraser.*  There is no state for initialization and no weaker rule for read-shared
data: `unshared` and `read-only` are classes of their own, decided for whole executions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mazurka.deadline import check_time
from mazurka.ir.expressions import Const, Expr
from mazurka.ir.passes.held import Ownership, find_shown_values
from mazurka.ir.program import DEAD_ENDS, Check, Edge, Mode, Operation, Program, Role
from mazurka.ir.values.evaluation import cannot_fault, evaluate
from mazurka.ir.values.footprints import Footprints

UNSHARED, READ_ONLY, PROTECTED, UNPROTECTED = "unshared", "read-only", "protected", "unprotected"


@dataclass(frozen=True, slots=True)
class Protection:
    """How threads share a cell."""

    kind: str
    """`unshared`: one thread at most may touch it; `read-only`: no edge may write it; `protected`:
    some lock is held at every access; `unprotected`: everything else."""
    locks: frozenset[int]
    """The owner cells of the locks held at every access, whatever the kind."""


@dataclass(frozen=True, slots=True)
class StaticProtection:
    cells: Mapping[int, Protection]
    """Every shared cell except the locks themselves.  Threads' own cells are not among them,
    although the creator of a thread may write its arguments."""


def classify_cells(program: Program, *, observed: bool = True) -> StaticProtection:
    """Classify the shared cells of a program; `observed` says whether reads of observers count.

    An observer reads without a lock.  A reduction must respect these reads; they do not change what
    the program's own threads do.
    """
    ownership = Ownership(program)
    found = {
        address: _Sharing()
        for address, cell in enumerate(program.cells)
        if address and cell.owner is None and cell.role is not Role.OWNER
    }
    for number, thread in enumerate(program.threads):
        if thread.observer and not observed:
            continue
        for access in ThreadAccesses(ownership, number).accesses():
            for address in access.cells & found.keys():
                found[address].add(number, access)
    return StaticProtection({address: sharing.classify() for address, sharing in found.items()})


@dataclass(frozen=True, slots=True)
class StaticAccess:
    """Cells that a step may touch, and the locks that its thread then holds before or after."""

    cells: frozenset[int]
    write: bool
    locks: frozenset[int]


class _Sharing:
    """What is known about a cell so far."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.written = False
        self.locks: frozenset[int] | None = None

    def add(self, thread: int, access: StaticAccess) -> None:
        self.threads.add(thread)
        self.written |= access.write
        self.locks = access.locks if self.locks is None else self.locks & access.locks

    def classify(self) -> Protection:
        locks = self.locks or frozenset()
        if len(self.threads) < 2:
            return Protection(UNSHARED, locks)
        if not self.written:
            return Protection(READ_ONLY, locks)
        return Protection(PROTECTED if locks else UNPROTECTED, locks)


class ThreadAccesses:
    """The accesses of one thread's edges, with the locks held around the steps they belong to."""

    def __init__(self, ownership: Ownership, number: int) -> None:
        self.ownership = ownership
        self.number = number
        self.thread = ownership.program.threads[number]
        self.held = ownership.held[number]
        self.starts = self._find_starts()
        """By location: the locks held where the step began, on every path to the location."""
        self.ends = self._find_ends()
        """By atomic location: the locks held when the step is over, on every path from there."""

    def accesses(self) -> Iterator[StaticAccess]:
        footprints = self.ownership.footprints
        for location, before in enumerate(self.starts):
            if before is None:
                continue
            looking = before | self._find_end_from(location)
            for position in self.thread.outgoing[location]:
                edge = self.thread.edges[position]
                guarded = frozenset(_find_guard_loads(footprints, edge))
                if guarded:
                    yield StaticAccess(guarded, False, looking)
                touched = footprints.of_edge(edge)
                locks = before | self._find_end_through(position)
                if touched.writes:
                    yield StaticAccess(touched.writes, True, locks)
                if touched.reads:
                    yield StaticAccess(touched.reads, False, locks)

    def _is_atomic(self, location: int) -> bool:
        return self.thread.locations[location].mode is Mode.ATOMIC

    def _find_starts(self) -> list[frozenset[int] | None]:
        starts = [
            None if self._is_atomic(location) else held for location, held in enumerate(self.held)
        ]
        work = [location for location, held in enumerate(starts) if held is not None]
        for location in self.ownership.beginnings[self.number]:
            starts[location] = frozenset()
            work.append(location)
        while work:
            check_time("analysing locks")
            location = work.pop()
            before = starts[location]
            assert before is not None
            for edge in self.thread.edges_at(location):
                if not self._is_atomic(edge.target):
                    continue
                old = starts[edge.target]
                new = before if old is None else old & before
                if new != old:
                    starts[edge.target] = new
                    work.append(edge.target)
        return starts

    def _find_ends(self) -> dict[int, frozenset[int]]:
        """Find the locks held at the end of each section; one that may run for ever has no end."""
        inside = {n for n, held in enumerate(self.held) if held is not None and self._is_atomic(n)}
        innermost_first, heads = self.thread.search_inside(inside)
        if heads:
            return {location: self._held_at(location) for location in inside}
        self.ends = {}
        for location in innermost_first:
            self.ends[location] = self._find_end_from(location)
        return self.ends

    def _held_at(self, location: int) -> frozenset[int]:
        return self.held[location] or frozenset()

    def _find_end_from(self, location: int) -> frozenset[int]:
        """Find the locks held at the end of a step that goes on from a location."""
        positions = self.thread.outgoing[location]
        if not positions:
            return frozenset()
        ends = [self._find_end_through(position) for position in positions]
        edges = [self.thread.edges[position] for position in positions]
        if not all(_is_safe_guard(self.ownership.footprints, edge) for edge in edges):
            ends.append(self._held_at(location))
        return frozenset.intersection(*ends)

    def _find_end_through(self, position: int) -> frozenset[int]:
        """Find the locks held at the end of a step that takes an edge, also if it fails there."""
        along = self.ownership.along(self.number, position)
        assert along is not None
        edge = self.thread.edges[position]
        ends = self.ends[edge.target] if self._is_atomic(edge.target) else along[-1]
        for operation, held in zip(edge.operations, along, strict=False):
            if not _may_fail(self.ownership.footprints, edge, operation):
                continue
            if isinstance(operation, Check) and operation.fault in DEAD_ENDS:
                # No search goes on from there; it is enough that no other thread held the lock.
                held |= _find_free_or_mine(edge.guard, self.number)
            ends &= held
        return ends


def _find_free_or_mine(guard: Expr | None, number: int) -> frozenset[int]:
    return frozenset(
        address.value
        for address, values in find_shown_values(guard).items()
        if isinstance(address, Const) and values <= {0, number + 1}
    )


def _find_guard_loads(footprints: Footprints, edge: Edge) -> Iterator[int]:
    return iter(()) if edge.guard is None else footprints.loads(edge.guard, edge.choices)


def _is_safe_guard(footprints: Footprints, edge: Edge) -> bool:
    return edge.guard is None or cannot_fault(edge.guard, footprints.lookup, edge.choices)


def _may_fail(footprints: Footprints, edge: Edge, operation: Operation) -> bool:
    lookup, choices = footprints.lookup, edge.choices
    if isinstance(operation, Check):
        return True
    address, value = operation.address, operation.value
    if not (cannot_fault(address, lookup, choices) and cannot_fault(value, lookup, choices)):
        return True
    if not footprints.is_surely_cell(address, choices):
        return True
    stored = evaluate(value, lookup, choices)
    cells = (footprints.program.cells[target] for target in footprints.targets(address, choices))
    return not all(cell.low <= stored.low and stored.high <= cell.high for cell in cells)
