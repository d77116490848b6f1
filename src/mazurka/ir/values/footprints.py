"""Static footprints: which cells an expression or an edge may touch, in any state.

Each step reports the exact cells that it touches; these sets contain them.  Addresses that are
not constant are bounded by the abstract values of the cells from which they are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mazurka.deadline import check_time
from mazurka.ir.expressions import Const, Expr, Load, walk
from mazurka.ir.program import Cell, Edge, Program
from mazurka.ir.values.evaluation import EMPTY, ValueSet, evaluate, from_points, members


def cell_values(cell: Cell) -> ValueSet:
    """Return all values that a cell can hold, by its declaration or an analysis."""
    if cell.points is not None:
        return from_points(cell.points, len(cell.points))
    return ValueSet.interval(cell.low, cell.high)


def make_cell_lookup(program: Program) -> Callable[[int], ValueSet]:
    """Return a lookup for `mazurka.ir.values.evaluate` that uses only declarations of cells."""
    known = [EMPTY] + [cell_values(cell) for cell in program.cells[1:]]

    def lookup(address: int) -> ValueSet:
        return known[address] if 0 <= address < len(known) else EMPTY

    return lookup


@dataclass(frozen=True, slots=True)
class Touched:
    """The cells an edge may read and may write."""

    reads: frozenset[int]
    writes: frozenset[int]

    def only_own(self, program: Program, thread: int) -> bool:
        """Whether only the thread's own local cells can be touched."""
        return all(program.cells[address].owner == thread for address in self.reads | self.writes)


class Footprints:
    """Static may-read and may-write sets of a program's edges."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lookup = make_cell_lookup(program)

    def targets(self, address: Expr, choices: int = 1) -> tuple[int, ...]:
        """Return the cells that an address expression can denote."""
        if isinstance(address, Const):
            return (address.value,) if self.is_cell(address.value) else ()
        found = members(evaluate(address, self.lookup, choices))
        every: Iterable[int] = range(1, len(self.program.cells)) if found is None else found
        return tuple(value for value in every if self.is_cell(value))

    def is_surely_cell(self, address: Expr, choices: int = 1) -> bool:
        """Whether an address expression denotes a cell in every state."""
        values = evaluate(address, self.lookup, choices)
        return 0 < values.low <= values.high < len(self.program.cells)

    def is_cell(self, address: int) -> bool:
        return 0 < address < len(self.program.cells)

    def loads(self, expr: Expr, choices: int = 1) -> Iterator[int]:
        for part in walk(expr):
            if isinstance(part, Load):
                yield from self.targets(part.address, choices)

    def of_edge(self, edge: Edge) -> Touched:
        check_time("analysing the model")
        reads = {cell for expr in edge.expressions for cell in self.loads(expr, edge.choices)}
        writes = {
            cell for store in edge.stores for cell in self.targets(store.address, edge.choices)
        }
        return Touched(frozenset(reads), frozenset(writes))
