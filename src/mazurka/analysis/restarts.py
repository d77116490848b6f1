"""Find threads that might be started again after they have run, or whose progress others read.

The passes promise nothing for a program that starts a thread twice, but a reduction must not be
wrong about it.  A thread is *restartable* unless every edge that may write its program counter is
harmless for one of these reasons.

1. The edge checks that the thread is IDLE: by its guard, or by a check before the write.
2. The edges that may start the thread all belong to one thread, which is not restartable itself,
   and after one of them none can be taken again: no path leads there, or a *climbing* cell prevents
   it on each path.  Such a cell holds p when the edge is taken and q > p afterwards, and is never
   written in any other way, so that no edge which requires p is taken twice.  (Threads made in a
   loop are counted in this way.)  No location in between may reset the cell to its initial value.

Why 2 is not circular: consider the first moment at which any thread is started that is not IDLE.
Its creator has been started at most once by then, so it has followed one path from one entry.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.analysis.laws import walk_edge
from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.passes.liveness import find_idle_address
from mazurka.ir.program import IDLE, Check, Edge, Program
from mazurka.ir.values.footprints import Footprints

Starting: TypeAlias = tuple[int, int]
"""A thread and the position of one of its edges, which may start some other thread."""


def find_restartable_threads(program: Program) -> frozenset[int]:
    """Find the threads that some step might start although they are not IDLE."""
    footprints = Footprints(program)
    blind = _find_blind_starts(footprints)
    once = _SingleUse(footprints)
    found = {
        number for number in blind if program.cells[program.threads[number].counter].initial != IDLE
    }
    while more := {
        number for number in blind.keys() - found if not once.is_taken_once(blind[number], found)
    }:
        found |= more
    return frozenset(found)


def find_unwatched_threads(program: Program) -> frozenset[int]:
    """Find the threads of which the others read only whether they are IDLE."""
    footprints = Footprints(program)
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    watched: set[int] = set()
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            seen = _find_watched(footprints, edge, counters)
            watched |= {counters[cell] for cell in seen} - {number}
    return frozenset(counters.values()) - watched


def _find_watched(footprints: Footprints, edge: Edge, counters: dict[int, int]) -> set[int]:
    """Find the counters whose values an edge may use other than by comparing them with IDLE."""
    uses: dict[Expr, int] = defaultdict(int)
    for part in walk_edge(edge):
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


def _find_blind_starts(footprints: Footprints) -> dict[int, set[Starting]]:
    """Find all edges that may start a thread, if one of them does not check that it is IDLE."""
    program = footprints.program
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    starts: dict[int, set[Starting]] = defaultdict(set)
    blind: set[int] = set()
    for number, thread in enumerate(program.threads):
        for position, edge in enumerate(thread.edges):
            for address, seen in _find_stores(edge):
                reached = counters.keys() & set(footprints.targets(address, edge.choices))
                for other in {counters[cell] for cell in reached} - {number}:
                    starts[other].add((number, position))
                    blind |= set() if seen else {other}
    return {number: starts[number] for number in blind}


def _find_stores(edge: Edge) -> list[tuple[Expr, bool]]:
    """Find the addresses that an edge writes, and whether it has checked for IDLE there before."""
    seen = {find_idle_address(part) for part in conjuncts(edge.guard)}
    found: list[tuple[Expr, bool]] = []
    for operation in edge.operations:
        if isinstance(operation, Check):
            seen |= {find_idle_address(part) for part in conjuncts(operation.condition)}
            continue
        found.append((operation.address, operation.address in seen))
        # After a store a computed address may denote another cell, and a constant one may
        # denote the cell that was written.
        seen = set()
    return found


@dataclass(frozen=True, slots=True)
class _Climb:
    """A cell that an edge requires to hold `low`, and in which it stores `high`."""

    cell: int
    low: int
    high: int


class _SingleUse:
    """Decides whether edges of a thread can be taken one after the other."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program = footprints.program

    def is_taken_once(self, starts: set[Starting], restartable: set[int]) -> bool:
        """Whether at most one of the edges is taken, and at most once."""
        creators = {number for number, _ in starts}
        if len(creators) > 1 or creators & restartable:
            return False
        return not any(self._may_follow(one, other) for one in starts for other in starts)

    def _may_follow(self, first: Starting, second: Starting) -> bool:
        """Whether the second edge may be taken after the first one."""
        thread = self.program.threads[first[0]]
        one, other = thread.edges[first[1]], thread.edges[second[1]]
        behind = thread.reachable(one.target)
        if other.source not in behind:
            return False
        if first != second:
            return True
        for climb in _find_climbs(one):
            resetting = {n for n in behind if climb.cell in thread.locations[n].resets}
            back = any(one.source in thread.reachable(place) for place in resetting)
            if not back and self._only_climbs(climb.cell):
                return False
        return True

    def _only_climbs(self, cell: int) -> bool:
        """Whether every edge of the program that may write the cell raises it for certain."""
        for edge in self.program.edges:
            climbing = {Const(climb.cell) for climb in _find_climbs(edge)}
            for store in edge.stores:
                reached = self.footprints.targets(store.address, edge.choices)
                if cell in reached and store.address not in climbing:
                    return False
        return True


def _find_climbs(edge: Edge) -> list[_Climb]:
    """Find the cells that an edge raises from one constant to another, by one store."""
    found = []
    for part in conjuncts(edge.guard):
        match part:
            case Binary("eq", Load(Const(cell)), Const(low)):
                stored = [store.value for store in edge.stores if store.address == Const(cell)]
                match stored:
                    case [Const(high)] if high > low:
                        found.append(_Climb(cell, low, high))
    return found
