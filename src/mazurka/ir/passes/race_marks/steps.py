"""The steps of a thread by its text: which edge begins one, where it may lead, what it may touch.

A step is *plain* if its first edge is: neither `Edge.atomic` nor an operation of synchronization.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mazurka.deadline import check_time
from mazurka.ir.expressions import Expr
from mazurka.ir.program import Edge, Mode, Thread
from mazurka.ir.values.footprints import Footprints


@dataclass
class StepAccesses:
    """The cells that steps of one thread may touch, apart from its own."""

    plain_reads: set[int] = field(default_factory=set)
    plain_writes: set[int] = field(default_factory=set)
    solid_reads: set[int] = field(default_factory=set)
    """Of steps that begin with an atomic operation."""
    solid_writes: set[int] = field(default_factory=set)

    @property
    def reads(self) -> set[int]:
        return self.plain_reads | self.solid_reads

    @property
    def writes(self) -> set[int]:
        return self.plain_writes | self.solid_writes


@dataclass(frozen=True)
class StaticStep:
    """The steps that begin with one edge."""

    thread: Thread
    location: int
    position: int
    """Of its first edge."""

    @property
    def first(self) -> Edge:
        return self.thread.edges[self.position]

    @property
    def is_plain(self) -> bool:
        return not self.first.indivisible

    @property
    def guards(self) -> list[Expr]:
        """The guards that are evaluated before its first edge is taken."""
        return guards_up_to(self.thread, self.position)

    @cached_property
    def inside(self) -> set[int]:
        """The locations that it may pass through."""
        atomic = {n for n, place in enumerate(self.thread.locations) if place.mode is Mode.ATOMIC}
        target = self.first.target
        return self.thread.reachable(target, atomic) if target in atomic else set()

    @cached_property
    def edges(self) -> list[Edge]:
        more = (edge for location in sorted(self.inside) for edge in self.thread.edges_at(location))
        return [self.first, *more]

    def touched(self, footprints: Footprints) -> tuple[set[int], set[int]]:
        """The cells that it may read and write."""
        number = footprints.program.cells[self.thread.counter].owner
        reads, writes = set[int](), set[int]()
        for guard in self.guards:
            reads.update(footprints.loads(guard))
        for edge in self.edges:
            found = footprints.of_edge(edge)
            reads |= found.reads
            writes |= found.writes
        cells = footprints.program.cells
        foreign = {address for address in reads | writes if cells[address].owner != number}
        return reads & foreign, writes & foreign


def guards_up_to(thread: Thread, position: int) -> list[Expr]:
    """Return the guards that are evaluated before an edge is taken, its own among them."""
    before = thread.outgoing[thread.edges[position].source]
    guards = (thread.edges[each].guard for each in before[: before.index(position) + 1])
    return [guard for guard in guards if guard is not None]


def steps_of(thread: Thread) -> Iterator[StaticStep]:
    for location, place in enumerate(thread.locations):
        if place.mode is not Mode.ATOMIC:
            for position in thread.outgoing[location]:
                yield StaticStep(thread, location, position)


def find_step_accesses(footprints: Footprints) -> list[StepAccesses]:
    """For each thread what its steps may touch; observers do not count and touch nothing."""
    found = []
    for thread in footprints.program.threads:
        accesses = StepAccesses()
        for step in steps_of(thread) if not thread.observer else ():
            check_time("looking for accesses that may race")
            reads, writes = step.touched(footprints)
            if step.is_plain:
                accesses.plain_reads |= reads
                accesses.plain_writes |= writes
            else:
                accesses.solid_reads |= reads
                accesses.solid_writes |= writes
        found.append(accesses)
    return found
