"""Let the end of the process end all threads, for searches that judge whole runs.

A thread that comes to a `Kind.END` edge stays there, and the others may go on: what they do then
they could have done while that thread was slow.  That is enough for faults, deadlocks and hangs.  A
temporal formula is judged over whole runs, and needs the run that ends there.

In the program made here, an END edge stores that the process has ended, in a cell of its own, and
all other edges need that it has not.  So nobody moves afterwards, and the run stays where it is.  A
location of assumptions gets an edge that stays there once the process has ended: else its thread
would count as stopped, and the run would be left out.  Such locations, and those of END edges, are
visible: other threads may come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    STOPPING,
    Assign,
    Cell,
    Edge,
    Kind,
    Mode,
    Program,
    Role,
    Thread,
)


def end_with_process(program: Program) -> Program:
    """Return a program in which nobody moves once a thread has ended the process."""
    if not any(edge.kind is Kind.END for edge in program.edges):
        return program
    flag = len(program.cells)
    cell = Cell("the process has ended", 0, 1, role=Role.SYNC)
    threads = tuple(_end_thread(thread, flag) for thread in program.threads)
    return replace(program, cells=(*program.cells, cell), threads=threads, text=None)


def _end_thread(thread: Thread, flag: int) -> Thread:
    places = range(FIRST_LOCATION, len(thread.locations))
    shown = {place for place in places if _stops(thread, place)}
    locations = tuple(
        replace(each, mode=Mode.VISIBLE) if place in shown and each.mode is Mode.MERGED else each
        for place, each in enumerate(thread.locations)
    )
    edges = (each for place in places for each in _edges_at(thread, place, flag))
    return replace(thread, locations=locations, edges=tuple(edges))


def _stops(thread: Thread, place: int) -> bool:
    """Whether all edges of a location stop a thread, if any."""
    return bool(thread.outgoing[place]) and all(
        edge.kind in STOPPING for edge in thread.edges_at(place)
    )


def _edges_at(thread: Thread, place: int, flag: int) -> Iterator[Edge]:
    over = Binary("ne", Load(Const(flag)), ZERO)
    running = Binary("eq", Load(Const(flag)), ZERO)
    inside = thread.locations[place].mode is Mode.ATOMIC
    for edge in thread.edges_at(place):
        if edge.kind is Kind.END:
            ended = (Assign(Const(flag), ONE),)
            edge = replace(edge, kind=Kind.EXIT, target=FINISHED, guard=None, operations=ended)
        yield edge if inside else replace(edge, guard=_both(running, edge.guard))
    if _stops(thread, place) and place not in thread.ends and not inside:
        first = next(thread.edges_at(place))
        yield replace(first, target=place, guard=over, operations=(), text="the process has ended")


def _both(running: Expr, guard: Expr | None) -> Expr:
    return running if guard is None else Conditional(running, guard, ZERO)
