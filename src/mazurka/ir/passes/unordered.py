"""Take from a program the order that relaxed atomic operations seem to give.

A program's memory is sequentially consistent, so that every atomic operation orders what is around
it.  In C11 a read orders only if it acquires what a releasing write has left: where it is weaker,
or finds a weaker write, accesses on both sides of it may race though none of them is ever possible
at the same time as the other.

**What is done.**  An atomic read weaker than acquire finds any value that its cell can have, other
atomic reads what the cell has or what a write weaker than release may have left there.  An
operation that compares, and is weaker only where it fails, fails with any value and succeeds as
other operations do.  Failing assertions are left out, and what is stored is kept in the range of
its cell: there the program goes on.

**Why no race is lost.**  Let E be an execution of the program with two conflicting accesses a and
b that happens-before does not order, the first such pair of E.  Leave out of E all that is not
ordered before a or b, but a and b.  What is left is an execution of the changed program: a read
that finds another value than before has lost the write that it found, so that write was not ordered
before it; then both are atomic and one of them is weak, or they would race earlier than a with b.
Locks and the creation and end of threads order, and so keep what they need.  At the end of this
execution a and b are both possible.

The other direction does not hold: values that no execution finds may lead to accesses that none
reaches.  So a race of the changed program decides nothing, and that there is none decides that the
program has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from mazurka.ir.expressions import (
    Binary,
    Choice,
    Conditional,
    Const,
    Expr,
    Load,
    rebuild,
    walk,
)
from mazurka.ir.program import (
    Assign,
    Edge,
    Fault,
    Program,
    Relaxed,
    Span,
)
from mazurka.ir.values.evaluation import ValueSet, evaluate
from mazurka.ir.values.footprints import Footprints

MOST_VALUES = 256
"""So many values of one cell are tried."""


class UnknownOrderError(Exception):
    """What an atomic operation would find cannot be listed."""

    def __init__(self, span: Span) -> None:
        super().__init__(f"{span}")
        self.span = span


def without_relaxed_order(program: Program) -> Program:
    """Return the program without the order of relaxed operations (`Edge.relaxed`)."""
    work = _Unordered(program)
    threads = tuple(
        replace(thread, edges=tuple(work.change(number, edge) for edge in thread.edges))
        for number, thread in enumerate(program.threads)
    )
    cells = tuple(
        replace(cell, points=None) if cell.can_race else cell  # other values may come up
        for cell in program.cells
    )
    return replace(program, cells=cells, threads=threads, text=None, weak=False)


def _list_values(values: ValueSet) -> Iterable[int] | None:
    """The values of a set, one by one; None if they are too many."""
    if values.points is not None:
        return values.points
    return None if values.high - values.low >= MOST_VALUES else range(values.low, values.high + 1)


class _Unordered:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.leading: list[dict[int, list[Edge]]] = []
        """By thread and location the edges that lead there."""
        for thread in program.threads:
            self.leading.append({})
            for edge in thread.edges:
                self.leading[-1].setdefault(edge.target, []).append(edge)
        self.loose: dict[int, set[int] | None] = defaultdict(set)
        """By cell what writes weaker than release may leave there; None if that is not known."""
        for edge in program.edges:
            if Relaxed.WRITE in edge.relaxed:
                self._note_loose(edge)

    def _note_loose(self, edge: Edge) -> None:
        for store in edge.stores:
            values = _list_values(evaluate(store.value, self.footprints.lookup, edge.choices))
            for address in self.footprints.targets(store.address, edge.choices):
                known = self.loose[address] if self._is_data(address) else set()
                if values is None or known is None:
                    self.loose[address] = None
                else:
                    known.update(values)

    def _is_data(self, address: int) -> bool:
        cell = self.program.cells[address]
        return cell.owner is None and cell.can_race

    def _cells(self, edge: Edge, load: Load) -> list[int]:
        targets = self.footprints.targets(load.address, edge.choices)
        return [address for address in targets if self._is_data(address)]

    def _find_load(self, edge: Edge) -> Load | None:
        """The read of shared data that the edge keeps in a cell."""
        match edge.operations:
            case (*_, Assign(Const(), value)):
                for part in walk(value):
                    if isinstance(part, Load) and self._cells(edge, part):
                        return part
        return None

    def change(self, number: int, edge: Edge) -> Edge:
        """Return the edge of a thread as it is without the order of relaxed operations."""
        touched = self.footprints.of_edge(edge)
        reads, writes = (
            {address for address in each if self._is_data(address)}
            for each in (touched.reads, touched.writes)
        )
        fails = Relaxed.FAILURE in edge.relaxed
        if fails and writes:
            edge = self._succeed(number, edge)
        elif reads and (fails or Relaxed.READ in edge.relaxed):
            edge = self._read_any(edge, any_value=True)
        elif edge.atomic and not reads.isdisjoint(self.loose):
            edge = self._read_any(edge, any_value=False)
        operations = (
            self._limit(each) if isinstance(each, Assign) else each
            for each in edge.operations
            if isinstance(each, Assign) or each.fault is not Fault.ASSERT
        )
        return replace(edge, operations=tuple(operations))

    def _limit(self, store: Assign) -> Assign:
        """Keep what is stored in the range of its cell: no execution of the program leaves that."""
        if not isinstance(store.address, Const) or isinstance(store.value, Const):
            return store
        if not self.footprints.is_cell(store.address.value):
            return store
        cell = self.program.cells[store.address.value]
        least = Binary("max", store.value, Const(cell.low))
        return Assign(store.address, Binary("min", least, Const(cell.high)))

    def _succeed(self, number: int, edge: Edge) -> Edge:
        """Let an operation that compares succeed only with what the cell has, or what a write that
        is not ordered before may have left there."""
        stores = edge.stores
        found = self._find_read(number, edge)
        if edge.guard is not None or found is None or Relaxed.READ in edge.relaxed:
            return edge
        value = Load(found)
        fine: Expr = Binary("eq", Load(stores[0].address), value)
        for address in self.footprints.targets(stores[0].address, edge.choices):
            loose = self.loose.get(address, set())
            if loose is None:
                return edge
            for each in sorted(loose):
                fine = Binary("or", fine, Binary("eq", value, Const(each)))
        return replace(edge, guard=fine)

    def _find_read(self, number: int, edge: Edge) -> Expr | None:
        """The cell with what an operation that compares has read before it writes."""
        found, places, seen = set(), [edge.source], {edge.source}
        while places:
            place = places.pop()
            for each in self.leading[number].get(place, ()):
                load = self._find_load(each) if Relaxed.FAILURE in each.relaxed else None
                if load is not None and load.address == edge.stores[0].address:
                    last = each.operations[-1]
                    assert isinstance(last, Assign)
                    found.add(last.address)
                elif each.relaxed != edge.relaxed:
                    return None
                elif each.source not in seen:
                    seen.add(each.source)
                    places.append(each.source)
        return found.pop() if len(found) == 1 else None

    def _read_any(self, edge: Edge, *, any_value: bool) -> Edge:
        """Let an edge read any value of the cell, or any that a weak write may have left."""
        load = self._find_load(edge)
        if load is None or edge.choices > 1 or edge.guard is not None:
            raise UnknownOrderError(edge.span)
        values: set[int] = set()
        for address in self._cells(edge, load):
            loose = None if any_value else self.loose.get(address, set())
            cell = self.program.cells[address]
            if loose is not None:
                values |= loose
            elif cell.points is not None:
                values.update(cell.points)
            elif cell.high - cell.low < MOST_VALUES:
                values.update(range(cell.low, cell.high + 1))
            else:
                raise UnknownOrderError(edge.span)
        if len(values) >= MOST_VALUES:
            raise UnknownOrderError(edge.span)
        value: Expr = load
        for position, other in enumerate(sorted(values), 1):
            value = Conditional(Binary("eq", Choice(), Const(position)), Const(other), value)

        def put(expr: Expr) -> Expr:
            return value if expr == load else rebuild(expr, put)

        last = edge.operations[-1]
        assert isinstance(last, Assign)
        operations = (*edge.operations[:-1], Assign(last.address, put(last.value)))
        return replace(edge, operations=operations, choices=len(values) + 1)
