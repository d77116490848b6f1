"""What the edges alone tell about the next action of a thread that rests at a location.

A location is *fixed* if every step from it, with the thread's own cells as they are, touches the
same cells whatever the shared cells hold.  A search may then take the footprint it has seen for the
one it would have seen after other steps of other threads.  A location *may block* if others decide
whether a step from it exists.

Both answers err on one side: a location called fixed is fixed, one that is called non-blocking
never blocks for other threads' sake.  From the first shared read of a step on, every value but a
constant counts as unknown, the thread's own cells included.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.ir.expressions import (
    DIVISIONS,
    Binary,
    Conditional,
    Const,
    Element,
    Expr,
    Load,
    children,
    negate,
    walk,
)
from mazurka.ir.program import FINISHED, IDLE, WRONG, Assign, Edge, Kind, Mode, Program
from mazurka.ir.values.footprints import Footprints

SHIFTS = frozenset({"shl", "shr", "lshr"})


@dataclass(frozen=True, slots=True)
class Point:
    """What is known about a thread that rests at a location."""

    kind: str
    may_block: bool
    fixed: bool
    may_read: frozenset[int]
    """The cells of others that a step from here can read, in any state."""


class PointTable:
    """The points of one thread, worked out as they are asked for."""

    def __init__(self, program: Program, number: int, footprints: Footprints) -> None:
        self.program = program
        self.number = number
        self.thread = program.threads[number]
        self.footprints = footprints
        self.points: dict[int, Point] = {}

    def at(self, location: int) -> Point:
        if location not in self.points:
            self.points[location] = self.work_out(location)
        return self.points[location]

    def work_out(self, location: int) -> Point:
        if location in (IDLE, FINISHED, WRONG):  # only a creator can change that
            return Point(str(Kind.CREATE), True, True, frozenset({self.thread.counter}))
        edges = tuple(self.thread.edges_at(location))
        inside = self.atomic_behind(edges)
        section = [tuple(self.thread.edges_at(place)) for place in inside]
        reads: set[int] = set()
        for edge in (*edges, *(edge for part in section for edge in part)):
            reads |= self.foreign(self.footprints.of_edge(edge).reads)
        own_decision = not any(self.reads_shared(edge.guard) for edge in edges)
        always = own_decision or covers_everything(edges)
        may_block = not always or not all(covers_everything(part) for part in section)
        fixed = not inside and self.is_fixed(edges, own_decision)
        return Point(str(edges[0].kind) if edges else "", may_block, fixed, frozenset(reads))

    def atomic_behind(self, edges: tuple[Edge, ...]) -> set[int]:
        """The locations of the atomic section that a step from here goes through."""
        found: set[int] = set()
        waiting = [edge.target for edge in edges]
        while waiting:
            location = waiting.pop()
            if self.thread.locations[location].mode is Mode.ATOMIC and location not in found:
                found.add(location)
                waiting.extend(edge.target for edge in self.thread.edges_at(location))
        return found

    def foreign(self, addresses: frozenset[int]) -> set[int]:
        """Those that are not the thread's own."""
        return {a for a in addresses if self.program.cells[a].owner != self.number}

    def reads_shared(self, expr: Expr | None) -> bool:
        return expr is not None and bool(self.foreign(frozenset(self.footprints.loads(expr))))

    def is_fixed(self, edges: tuple[Edge, ...], own_decision: bool) -> bool:
        if own_decision or len(edges) == 1:
            return all(_EdgeWalk(self).is_fixed(edge) for edge in edges)
        first = edges[0]
        bare = all(not self.works_on_shared(edge) for edge in edges)
        guard_only = Edge(first.source, first.target, first.kind, first.span, first.guard)
        return bare and covers_everything(edges) and _EdgeWalk(self).is_fixed(guard_only)

    def works_on_shared(self, edge: Edge) -> bool:
        """Whether its operations, the guard aside, touch anything shared."""
        bare = Edge(
            edge.source,
            edge.target,
            edge.kind,
            edge.span,
            operations=edge.operations,
            choices=edge.choices,
        )
        touched = self.footprints.of_edge(bare)
        return bool(self.foreign(touched.reads | touched.writes))


def covers_everything(edges: tuple[Edge, ...]) -> bool:
    """Whether one of the guards holds in every state, judged by their form; and if there are two,
    both look at the same cells."""
    if len(edges) == 1:
        return edges[0].guard is None
    if len(edges) != 2:
        return False
    one, other = (edge.guard for edge in edges)
    return one is not None and other is not None and (other == negate(one) or one == negate(other))


class _EdgeWalk:
    """Goes through an edge in order of evaluation and watches what depends on shared cells."""

    def __init__(self, table: PointTable) -> None:
        self.table = table
        self.fixed = True
        self.unknown = False
        """A shared cell has been read: from here on values are unknown."""
        self.may_have_failed = False
        """Unknown values decide whether the step has come this far."""

    def is_fixed(self, edge: Edge) -> bool:
        if edge.guard is not None:
            self.visit(edge.guard)
        for operation in edge.operations:
            if isinstance(operation, Assign):
                self.visit(operation.address)
                self.visit(operation.value)
                self.store(operation)
            else:
                self.visit(operation.condition)
                self.may_have_failed |= self.unknown
        return self.fixed

    def visit(self, expr: Expr) -> None:
        for child in children(expr):
            self.visit(child)
        match expr:
            case Load(address):
                self.touch(address)
            case Element():
                self.may_have_failed |= self.unknown
            case Binary(operator) if operator in DIVISIONS or operator in SHIFTS:
                self.may_have_failed |= self.unknown
            case Conditional(test, then, otherwise) if self.reads_something(test):
                if any(self.table.reads_shared(branch) for branch in (then, otherwise)):
                    self.fixed = False

    def reads_something(self, expr: Expr) -> bool:
        """Whether a value can be unknown: own cells are read after shared ones."""
        loads = any(isinstance(part, Load) for part in walk(expr))
        return loads and (self.unknown or self.table.reads_shared(expr))

    def touch(self, address: Expr) -> None:
        """A read or write of the cell at an address that has just been evaluated."""
        constant = isinstance(address, Const)
        if self.unknown and not constant:
            self.fixed = False
            self.may_have_failed = True
        if self.table.foreign(frozenset(self.table.footprints.targets(address))):
            self.fixed &= not self.may_have_failed
            self.unknown = True

    def store(self, assign: Assign) -> None:
        shared = self.table.foreign(frozenset(self.table.footprints.targets(assign.address)))
        if self.unknown and not isinstance(assign.value, Const):
            self.may_have_failed = True
        if shared:
            address_unknown = self.unknown and not isinstance(assign.address, Const)
            self.fixed &= not self.may_have_failed and not address_unknown
