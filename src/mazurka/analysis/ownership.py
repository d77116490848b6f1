"""Exclusive access by hand-over: the threads' locations decide which thread may touch a cell.

Paper 002 (Stoller and Cohen) protects `buf` between a user and a driver by a semaphore: the driver
has exclusive access before its `up(s)`, the user after its `down(s)`.  Here such predicates are
inferred: the synchronizing steps of a thread divide its locations into *regions*, and thread i has
exclusive access to x while it is in a region from which it has touched x.

    EA1  a thread that touches x is in such a region        checked at each access to x
    EA2  no two threads are in their regions of x at once   checked at each access to x
    EA3  no thread can take the access of another away      a region depends on its thread alone

A step that enters or leaves a region changes the predicate, so it is visible: a non-mover.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.ir.program import FIRST_LOCATION, PLAIN_KINDS, Kind, Mode, Program, Thread

CUTTING = frozenset(set(Kind) - PLAIN_KINDS - {Kind.ATOMIC, Kind.YIELD})
"""The kinds of step that divide a thread into regions."""

Place: TypeAlias = tuple[int, int]
"""A thread and one of its locations."""


@dataclass(frozen=True, slots=True)
class StepReach:
    """What one step from a location can do."""

    edges: tuple[int, ...]
    rests: tuple[int, ...]


def reach(thread: Thread, location: int) -> StepReach:
    """Find the edges that a step from a location may take, and where it may come to rest."""
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
    return StepReach(tuple(edges), tuple(sorted(rests)))


def find_regions(program: Program, number: int) -> list[int]:
    """Return for each location of a thread the number of its region."""
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


class Regions:
    """The regions of a program's threads."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.of_location = [find_regions(program, number) for number in range(len(program.threads))]

    def around(self, places: Iterable[Place]) -> frozenset[Place]:
        """Return all places in the regions of the given places."""
        wanted = {(thread, self.of_location[thread][location]) for thread, location in places}
        return frozenset(
            (thread, location)
            for thread, of_location in enumerate(self.of_location)
            for location in range(FIRST_LOCATION, len(of_location))
            if (thread, of_location[location]) in wanted
        )
