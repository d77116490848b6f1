"""Drop marks of joined threads that nobody can find.

Where a thread must not be joined twice, a join stores in the thread's status that it has been
joined, and another edge of its location fails where the status says so already.  Mostly the text of
the program tells that each thread is joined once; then nobody ever finds the mark.

Let e be a JOIN edge that stores the constant v in the cell s, whose first value is another one, and

1. no other edge may store v in s;
2. e is taken at most once: no path leads from its target back to its source, and nobody starts its
   thread again.

Until e is taken, s is not v.  So an edge of the same location whose guard needs s to be v is never
taken: e and that edge exclude each other, and whoever has taken e does not come back.  That edge is
dropped.  If then no edge outside of that location reads s, what e stores makes no difference, and
the store is dropped, too.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.liveness import find_restarts
from mazurka.ir.program import Assign, Edge, Kind, Program, Thread
from mazurka.ir.values.evaluation import evaluate
from mazurka.ir.values.footprints import Footprints


def drop_unseen_join_marks(program: Program) -> Program:
    """Drop the marks of joined threads that nobody can find, and what looks for them."""
    if not any(_find_mark(edge) for edge in program.edges):
        return program
    marks = _Marks(program)
    threads = tuple(
        replace(thread, edges=tuple(marks.simplify(number, thread)))
        for number, thread in enumerate(program.threads)
    )
    return replace(program, threads=threads)


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a join leaves in the status of the thread."""

    cell: int
    value: int


def _find_mark(edge: Edge) -> _Mark | None:
    """The mark that a join stores, if it does nothing else."""
    if edge.kind is not Kind.JOIN:
        return None
    match edge.operations:
        case (Assign(Const(cell), Const(value)),):
            return _Mark(cell, value)
    return None


class _Marks:
    """Who reads and writes the statuses of threads."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.again = find_restarts(self.footprints)
        cells = {mark.cell for edge in program.edges if (mark := _find_mark(edge))}
        self.readers: dict[int, set[tuple[int, int]]] = defaultdict(set)
        """By status the thread and the location of each edge that may read it."""
        self.writers: dict[int, list[tuple[Edge, Expr]]] = defaultdict(list)
        """By status each edge that may write it, with what it stores."""
        for number, thread in enumerate(program.threads):
            for edge in thread.edges:
                for cell in self.footprints.of_edge(edge).reads & cells:
                    self.readers[cell].add((number, edge.source))
                for store in edge.stores:
                    for cell in cells.intersection(
                        self.footprints.targets(store.address, edge.choices)
                    ):
                        self.writers[cell].append((edge, store.value))

    def simplify(self, number: int, thread: Thread) -> list[Edge]:
        """The edges of a thread without what is not needed."""
        found = list(thread.edges)
        for edge in thread.edges:
            mark = _find_mark(edge)
            if mark is None or not self.is_first(number, thread, edge, mark):
                continue
            found = [each for each in found if not _needs(each, edge.source, mark)]
            if self.readers[mark.cell] <= {(number, edge.source)}:
                found[found.index(edge)] = replace(edge, operations=())
        return found

    def is_first(self, number: int, thread: Thread, edge: Edge, mark: _Mark) -> bool:
        """Whether nobody can have stored the mark when a thread comes to the location of an edge
        that stores it."""
        if number in self.again or edge.source in thread.reachable(edge.target):
            return False
        others = [(each, value) for each, value in self.writers[mark.cell] if each is not edge]
        return self.program.cells[mark.cell].initial != mark.value and not any(
            evaluate(value, self.footprints.lookup, each.choices).contains(mark.value)
            for each, value in others
        )


def _needs(edge: Edge, location: int, mark: _Mark) -> bool:
    """Whether an edge of a location is taken only where the mark is found."""
    wanted = Binary("eq", Load(Const(mark.cell)), Const(mark.value))
    return edge.source == location and edge.guard == wanted
