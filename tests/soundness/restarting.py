"""Lets a thread of a random program start another one that may be running or have ended."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mazurka.ir.expressions import Const
from mazurka.ir.program import Assign, Edge, Kind, Mode, Program


def with_restart(program: Program, rng: Random) -> Program | None:
    """The program in which one edge also starts some other thread; None if no edge can."""
    threads = [n for n, thread in enumerate(program.threads) if not thread.observer]
    if len(threads) < 2:
        return None
    starting, started = rng.sample(threads, 2)
    thread, other = program.threads[starting], program.threads[started]
    simple = [
        position
        for position, edge in enumerate(thread.edges)
        if edge.choices == 1
        and thread.locations[edge.source].mode is Mode.VISIBLE
        and thread.locations[edge.target].mode is Mode.VISIBLE
    ]
    if not simple:
        return None
    position = rng.choice(simple)
    edges: list[Edge] = list(thread.edges)
    start = Assign(Const(other.counter), Const(other.entry))
    edges[position] = replace(
        edges[position], kind=Kind.CREATE, operations=(*edges[position].operations, start)
    )
    changed = list(program.threads)
    changed[starting] = replace(thread, edges=tuple(edges))
    return replace(program, threads=tuple(changed))
