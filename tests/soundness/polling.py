"""Lets threads of a random program poll: go round a loop until a shared cell has some value."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mazurka.ir.expressions import Binary, Const, Load
from mazurka.ir.program import Assign, Edge, Kind, Location, Mode, Program, Thread


def with_polling(program: Program, rng: Random) -> Program:
    """The program in which one or two threads wait actively before one of their edges."""
    threads = list(program.threads)
    shared = [
        address
        for address, cell in enumerate(program.cells)
        if address and cell.owner is None and cell.points is None
    ]
    acting = [number for number, thread in enumerate(threads) if not thread.observer]
    for number in rng.sample(acting, min(rng.randint(1, 2), len(acting))):
        cell = rng.choice(shared)
        threads[number] = _poll(program, threads[number], cell, rng)
    cells = list(program.cells)
    for thread in threads:
        counter = cells[thread.counter]
        cells[thread.counter] = replace(counter, high=len(thread.locations) - 1, points=None)
    return replace(program, cells=tuple(cells), threads=tuple(threads))


def with_alike_polling(program: Program, rng: Random) -> Program:
    """The program in which all threads of one outer shape wait actively at the same place."""
    threads = list(program.threads)
    shapes = {(len(each.edges), len(each.locations)) for each in threads if not each.observer}
    shape, draws = rng.choice(sorted(shapes)), rng.getrandbits(32)
    cell = rng.choice(
        [a for a, each in enumerate(program.cells) if a and each.owner is None and not each.points]
    )
    cells = list(program.cells)
    for number, thread in enumerate(threads):
        if not thread.observer and (len(thread.edges), len(thread.locations)) == shape:
            threads[number] = _poll(program, thread, cell, Random(draws))
            last = len(threads[number].locations) - 1
            cells[thread.counter] = replace(cells[thread.counter], high=last, points=None)
    return replace(program, cells=tuple(cells), threads=tuple(threads))


def _poll(program: Program, thread: Thread, address: int, rng: Random) -> Thread:
    """Put a loop in front of an edge that a visible location has alone."""
    alone = [
        position
        for position, edge in enumerate(thread.edges)
        if len(thread.outgoing[edge.source]) == 1
        and thread.locations[edge.source].mode is Mode.VISIBLE
    ]
    if not alone:
        return thread
    position = rng.choice(alone)
    edge, behind = thread.edges[position], len(thread.locations)
    cell = program.cells[address]
    value = rng.randint(cell.low, min(cell.high, cell.low + 2))
    reached = Binary(rng.choice(("eq", "ne")), Load(Const(address)), Const(value))
    missed = replace(reached, operator="ne" if reached.operator == "eq" else "eq")
    edges = list(thread.edges)
    edges[position] = replace(edge, source=behind)
    span = edge.span
    edges.append(Edge(edge.source, behind, Kind.ACCESS, span, guard=reached))
    locations = [*thread.locations, Location()]
    round_ = _body(program, edge, address, rng)
    if round_ is None:
        edges.append(Edge(edge.source, edge.source, Kind.ACCESS, span, guard=missed))
    else:
        locations.append(Location())
        edges.append(Edge(edge.source, behind + 1, Kind.ACCESS, span, guard=missed))
        edges.append(replace(round_, source=behind + 1, target=edge.source))
    return replace(thread, edges=tuple(edges), locations=tuple(locations))


def _body(program: Program, edge: Edge, address: int, rng: Random) -> Edge | None:
    """What happens in a round: nothing, a pause, a choice, or a write that may change nothing."""
    cell = program.cells[address]
    match rng.randint(0, 5):
        case 0:
            return Edge(0, 0, Kind.YIELD, edge.span)
        case 1:
            return Edge(0, 0, Kind.CHOOSE, edge.span, choices=2)
        case 2 if cell.can_race:
            return Edge(
                0, 0, Kind.ACCESS, edge.span, None, (Assign(Const(address), Const(cell.low)),)
            )
        case 3:
            return Edge(
                0, 0, Kind.ASSUME, edge.span, Binary("ne", Load(Const(address)), Const(cell.low))
            )
        case _:
            return None
