"""The static facts about a program, computed once and used by every search of it.

They include the steps whose mover is known, so that a search need not record what they touch.
A step is *fixed* if every cell it may touch has a law that depends only on the edge: cells
proven to be protected, counts, flags, cells without protection, and locks that are proven to be
movable (`mazurka.analysis.movable`).  All steps from a location must be fixed, because a step
that takes one edge may have evaluated the guards of the others.
"""

from __future__ import annotations

from mazurka.analysis.laws import (
    Law,
    Mover,
    derive_laws,
    find_acquired,
    find_wake_locks,
    takes_one_lock,
    waits_for_locks,
)
from mazurka.analysis.locksets import classify_cells
from mazurka.analysis.movable import find_movable_locks
from mazurka.analysis.ownership import reach
from mazurka.analysis.queue_movers import apply_queue_laws
from mazurka.ir.expressions import ZERO, Conditional, Const
from mazurka.ir.passes.held import Ownership, conjuncts
from mazurka.ir.program import Edge, Mode, Program
from mazurka.ir.values.footprints import Touched


class FixedSteps:
    """Finds the fixed steps of a program; the laws of its cells may change between calls."""

    def __init__(self, program: Program, touched: list[Touched]) -> None:
        self.program = program
        self.touched = touched
        self.movable = find_movable_locks(program)
        self.ownership = Ownership(program)
        self.cells = [self._cells(number) for number in range(len(program.threads))]

    def _cells(self, number: int) -> list[frozenset[int]]:
        """Find for each location which cells of others a step from there may touch."""
        thread, first = self.program.threads[number], self.program.first_edge[number]
        found = []
        for location in range(len(thread.locations)):
            cells: set[int] = set()
            for position in reach(thread, location).edges:
                touched = self.touched[first + position]
                cells |= touched.reads | touched.writes
            found.append(
                frozenset(cell for cell in cells if self.program.cells[cell].owner != number)
            )
        return found

    def movers(self, laws: list[Law], edge_movers: list[Mover]) -> list[Mover | None]:
        """Return for each edge the mover of the steps it begins; None if it is not fixed."""
        found: list[Mover | None] = [None] * len(self.program.edges)
        for number, thread in enumerate(self.program.threads):
            first = self.program.first_edge[number]
            for location, positions in enumerate(thread.outgoing):
                movers = {
                    position: self._mover(number, location, position, laws, edge_movers)
                    for position in positions
                }
                if None not in movers.values():
                    for position, mover in movers.items():
                        found[first + position] = mover
        return found

    def _mover(
        self, number: int, location: int, position: int, laws: list[Law], edge_movers: list[Mover]
    ) -> Mover | None:
        edge = self.program.threads[number].edges[position]
        mover = Mover.BOTH
        for cell in self.cells[number][location]:
            match laws[cell]:
                case Law.NEVER:
                    mover = Mover.NONE
                case Law.ALWAYS:
                    pass
                case Law.COUNT | Law.FLAG | Law.QUEUE:
                    mover &= edge_movers[self.program.first_edge[number] + position]
                case Law.LOCK:
                    moved = self._lock_mover(number, location, edge, cell)
                    if moved is None:
                        return None
                    mover &= moved
                case _:
                    return None
        return mover

    def _lock_mover(self, number: int, location: int, edge: Edge, lock: int) -> Mover | None:
        """Return the mover of an edge, as far as a lock is concerned; None if it is not fixed."""
        thread = self.program.threads[number]
        alone = len(thread.outgoing[location]) == 1
        single = thread.locations[edge.target].mode is not Mode.ATOMIC
        if lock not in self.movable or not alone or not single:
            return None
        stored = [store.value for store in edge.stores if store.address == Const(lock)]
        if lock in (self.ownership.held[number][location] or ()):
            return Mover.LEFT if stored == [ZERO] else None
        recursive = any(isinstance(part, Conditional) for part in conjuncts(edge.guard))
        taken = find_acquired(edge, number) == (Const(lock),) and len(stored) == 1
        return Mover.RIGHT if taken and not recursive else None


KEY = "_static_facts"


class StaticFacts:
    """The results of all static analyses of a program; they are never modified."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.laws = derive_laws(program)
        apply_queue_laws(self.laws)
        footprints = self.laws.footprints
        threads = range(len(program.threads))
        self.waits_for_locks = [waits_for_locks(footprints, thread) for thread in threads]
        self.takes_one_lock = [takes_one_lock(footprints, thread) for thread in threads]
        self.wake_locks = [find_wake_locks(program, thread) for thread in threads]
        self.proven = classify_cells(program).cells
        self.fixed_steps = FixedSteps(program, self.laws.touched)
        self.movable_locks = self.fixed_steps.movable
        self.disciplined_locks = self.fixed_steps.ownership.disciplined


def find_static_facts(program: Program) -> StaticFacts:
    """Return the static facts about a program; they are cached in the program."""
    kept: StaticFacts | None = program.__dict__.get(KEY)
    if kept is None:
        kept = program.__dict__[KEY] = StaticFacts(program)
    return kept
