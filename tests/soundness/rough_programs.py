"""Random programs with more ways to race: plain sections, and plain steps that look at locks.

What front ends make of a program has few of these: a section that waits for a condition is plain,
and so are the conditions of a `select`.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.program import Edge, Kind, Mode, Program, Role, Thread


def roughen(program: Program, rng: Random) -> Program:
    """Make some steps of a program plain, and some conditions depend on synchronization, too."""
    looks = [
        Binary(rng.choice(("eq", "ne")), Load(Const(address)), ZERO)
        for address, cell in enumerate(program.cells)
        if address and cell.owner is None and cell.role in (Role.OWNER, Role.SYNC)
    ]
    threads = tuple(_roughen_thread(thread, looks, rng) for thread in program.threads)
    return replace(program, threads=threads)


def _roughen_thread(thread: Thread, looks: list[Binary], rng: Random) -> Thread:
    if thread.observer:
        return thread
    return replace(
        thread, edges=tuple(_roughen_edge(thread, edge, looks, rng) for edge in thread.edges)
    )


def _roughen_edge(thread: Thread, edge: Edge, looks: list[Binary], rng: Random) -> Edge:
    if thread.locations[edge.source].mode is Mode.MERGED:
        return edge
    if edge.kind is Kind.ATOMIC or edge.atomic:
        solid = thread.locations[edge.source].mode is Mode.VISIBLE and edge.choices == 1
        if solid and rng.random() < 0.5:
            kind = Kind.ACCESS if edge.kind is Kind.ATOMIC else edge.kind
            edge = replace(edge, kind=kind, atomic=False)
    waits = edge.kind in (Kind.UNTIL, Kind.ASSUME) and edge.guard is not None
    if waits and looks and rng.random() < 0.7:
        edge = replace(edge, guard=_join(rng, rng.choice(looks), edge.guard or ONE))
    return edge


def _join(rng: Random, look: Expr, guard: Expr) -> Expr:
    """Both conditions, one of the two, or one decided by the other."""
    match rng.randint(0, 2):
        case 0:
            return Conditional(look, guard, ZERO)
        case 1:
            return Conditional(guard, look, ZERO)
        case _:
            return Conditional(look, ONE, guard)
