"""Exclusive access by hand-over: who may touch a cell is decided by where the threads stand.

Paper 002 (Stoller and Cohen) protects `buf` between a user and a driver by a semaphore: the driver
has exclusive access before its `up(s)`, the user after its `down(s)`.  Here such predicates are
found, not written: a thread's locations are divided into *regions* by its synchronizing steps, and
thread i has exclusive access to x while it stands in a region from which x may be touched.

    EA1  whoever touches x stands in such a region          by construction
    EA2  no two threads stand in their regions of x at once  checked at each access to x
    EA3  nobody can take another's access away               a region depends on its thread alone

A step that enters or leaves a region changes the predicate, so it is visible: a non-mover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.ir.footprints import Footprints
from mazurka.ir.program import FIRST_LOCATION, PLAIN_KINDS, Kind, Mode, Program, Thread

CUTTING = frozenset(set(Kind) - PLAIN_KINDS - {Kind.ATOMIC, Kind.YIELD})
"""The kinds of step that divide a thread into regions."""

Regions = frozenset[tuple[int, int]]
"""Pairs of a thread and a location."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What one step from a location can do."""

    edges: tuple[int, ...]
    rests: tuple[int, ...]


def reach(thread: Thread, location: int) -> Reach:
    """The edges that a step from a location may take, and where it may come to rest."""
    edges: list[int] = []
    rests: set[int] = set()
    seen, work = {location}, [location]
    while work:
        here = work.pop()
        for position in thread.outgoing[here]:
            edges.append(position)
            target = thread.edges[position].target
            if thread.locations[target].mode is not Mode.ATOMIC:
                rests.add(target)
            if thread.locations[target].mode is not Mode.VISIBLE and target not in seen:
                seen.add(target)
                work.append(target)
    return Reach(tuple(edges), tuple(sorted(rests)))


def regions(program: Program, number: int) -> list[int]:
    """For each location of a thread the number of its region."""
    thread = program.threads[number]
    leader = list(range(len(thread.locations)))

    def find(location: int) -> int:
        while leader[location] != location:
            location = leader[location]
        return location

    for location in range(FIRST_LOCATION, len(thread.locations)):
        step = reach(thread, location)
        if not any(thread.edges[position].kind in CUTTING for position in step.edges):
            for rest in step.rests:
                if rest >= FIRST_LOCATION:
                    leader[find(rest)] = find(location)
    return [find(location) for location in range(len(thread.locations))]


class Ownership:
    """Finds the regions of a program's cells."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.regions = [regions(program, number) for number in range(len(program.threads))]
        self.touching = [
            list(self._touching(number, thread)) for number, thread in enumerate(program.threads)
        ]

    def _touching(self, number: int, thread: Thread) -> Iterator[frozenset[int]]:
        """For each location the cells that a step from there may touch."""
        own = [
            touched.reads | touched.writes
            for touched in (self.footprints.of_edge(edge) for edge in thread.edges)
        ]
        for location in range(len(thread.locations)):
            step = reach(thread, location)
            yield frozenset().union(*(own[position] for position in step.edges))

    def of_cell(self, cell: int) -> Regions | None:
        """Where threads have exclusive access to a cell; None if that is hopeless from the start.

        It is hopeless where two threads begin inside, and pointless where all of a thread is one
        region and nothing is ever handed over.
        """
        inside: set[tuple[int, int]] = set()
        beginning = 0
        for number, thread in enumerate(self.program.threads):
            of_location, touching = self.regions[number], self.touching[number]
            mine = {
                of_location[location] for location, cells in enumerate(touching) if cell in cells
            }
            inside |= {
                (number, location)
                for location in range(FIRST_LOCATION, len(thread.locations))
                if of_location[location] in mine
            }
            beginning += thread.active and (number, self._start(number)) in inside
        return frozenset(inside) if beginning <= 1 else None

    def _start(self, number: int) -> int:
        """Where a thread stands at the beginning (its first local steps may be folded in)."""
        return self.program.initial_state()[self.program.threads[number].counter]
