"""Threads that might be started again after they have run, and threads whose progress is watched.

A program that starts a thread twice is outside of what passes promise to keep, but a reduction must
not be wrong about it.  A thread is *restartable* unless every edge that may write its program
counter is harmless for one of these reasons.

1. The edge sees that the thread is IDLE: its guard, or a check before the write, says so.
2. The edges that may start the thread all belong to one thread, which is not restartable itself,
   and after one of them none is reached again: no path leads there, or each path is cut off by a
   *climbing* cell.  Such a cell holds p where the edge is taken and q > p afterwards, and is only
   ever written like that, so that no edge which asks for p is taken twice.  (Threads made in a loop
   are counted so.)  A location that resets the cell to its initial value must not lie in between.

Why 2 is no circle: look at the first moment at which any thread is started that is not IDLE.  Its
creator has been started once at most by then, so it has followed one path from one beginning.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.analysis.laws import expressions
from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import IDLE, Assign, Check, Edge, Program
from mazurka.ir.values.footprints import Footprints

Starting: TypeAlias = tuple[int, int]
"""A thread and the position of one of its edges, which may start some other thread."""


def restartable_threads(program: Program) -> frozenset[int]:
    """The threads that some step might start although they are not IDLE."""
    footprints = Footprints(program)
    blind = _blind_starts(footprints)
    once = _Once(footprints)
    found = {
        number for number in blind if program.cells[program.threads[number].counter].initial != IDLE
    }
    while more := {
        number for number in blind.keys() - found if not once.is_kept(blind[number], found)
    }:
        found |= more
    return frozenset(found)


def only_asked_for_idle(program: Program) -> frozenset[int]:
    """The threads of which the others see no more than whether they are IDLE."""
    footprints = Footprints(program)
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    watched: set[int] = set()
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            watched |= {counters[cell] for cell in _watched(footprints, edge, counters)} - {number}
    return frozenset(counters.values()) - watched


def _watched(footprints: Footprints, edge: Edge, counters: dict[int, int]) -> set[int]:
    """The counters of which an edge may use the value otherwise than by comparing it with IDLE."""
    uses: dict[Expr, int] = defaultdict(int)
    for part in expressions(edge):
        match part:
            case Load(address):
                uses[address] += 1
            case Binary("eq" | "ne", Load(address), Const(value)) if value == IDLE:
                uses[address] -= 1
    found: set[int] = set()
    for address, count in uses.items():
        if count:
            found |= counters.keys() & set(footprints.targets(address, edge.choices))
    return found


def _blind_starts(footprints: Footprints) -> dict[int, set[Starting]]:
    """For threads that are not always seen to be IDLE: all the edges that may start them."""
    program = footprints.program
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    starts: dict[int, set[Starting]] = defaultdict(set)
    blind: set[int] = set()
    for number, thread in enumerate(program.threads):
        for position, edge in enumerate(thread.edges):
            for address, seen in _stores(edge):
                reached = counters.keys() & set(footprints.targets(address, edge.choices))
                for other in {counters[cell] for cell in reached} - {number}:
                    starts[other].add((number, position))
                    blind |= set() if seen else {other}
    return {number: starts[number] for number in blind}


def _stores(edge: Edge) -> list[tuple[Expr, bool]]:
    """The addresses an edge writes to, and whether it has seen IDLE there before."""
    seen = {_idle_at(part) for part in conjuncts(edge.guard)}
    found: list[tuple[Expr, bool]] = []
    for operation in edge.operations:
        if isinstance(operation, Check):
            seen |= {_idle_at(part) for part in conjuncts(operation.condition)}
            continue
        found.append((operation.address, operation.address in seen))
        # After a store an address that is computed may mean another cell; so may a constant one
        # have been stored to.
        seen = set()
    return found


def _idle_at(part: Expr) -> Expr | None:
    match part:
        case Binary("eq", Load(address), Const(value)) if value == IDLE:
            return address
    return None


@dataclass(frozen=True, slots=True)
class _Climb:
    """An edge is taken when a cell holds `low`, and leaves `high` there."""

    cell: int
    low: int
    high: int


class _Once:
    """Finds out whether a thread's edges can be taken after each other."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program = footprints.program

    def is_kept(self, starts: set[Starting], restartable: set[int]) -> bool:
        """Whether at most one of some edges is taken, and that one at most once."""
        creators = {number for number, _ in starts}
        if len(creators) > 1 or creators & restartable:
            return False
        return not any(self._follows(one, other) for one in starts for other in starts)

    def _follows(self, first: Starting, second: Starting) -> bool:
        """Whether the second edge may be taken after the first one."""
        thread = self.program.threads[first[0]]
        one, other = thread.edges[first[1]], thread.edges[second[1]]
        behind = thread.reachable(one.target)
        if other.source not in behind:
            return False
        if first != second:
            return True
        for climb in _climbs(one):
            resetting = {n for n in behind if climb.cell in thread.locations[n].resets}
            back = any(one.source in thread.reachable(place) for place in resetting)
            if not back and self._only_climbs(climb.cell):
                return False
        return True

    def _only_climbs(self, cell: int) -> bool:
        """Whether no edge of the program makes the cell smaller, or leaves it open."""
        for edge in self.program.edges:
            climbing = {Const(climb.cell) for climb in _climbs(edge)}
            for operation in edge.operations:
                if not isinstance(operation, Assign):
                    continue
                reached = self.footprints.targets(operation.address, edge.choices)
                if cell in reached and operation.address not in climbing:
                    return False
        return True


def _climbs(edge: Edge) -> list[_Climb]:
    """The cells that an edge is certain to raise, from one constant to another, by one store."""
    found = []
    for part in conjuncts(edge.guard):
        match part:
            case Binary("eq", Load(Const(cell)), Const(low)):
                stored = [
                    each.value
                    for each in edge.operations
                    if isinstance(each, Assign) and each.address == Const(cell)
                ]
                match stored:
                    case [Const(high)] if high > low:
                        found.append(_Climb(cell, low, high))
    return found
