"""What threads that are stopped by assumptions might do, worked out edge by edge, or tried out."""

from __future__ import annotations

from dataclasses import replace

from mazurka.analysis.futures import find_needed_locks
from mazurka.ir.interpreter import State
from mazurka.ir.program import FINISHED, IDLE, Kind, Mode, Program, Thread
from mazurka.ir.values.footprints import Footprints


def without_assumptions(program: Program, state: State) -> Program:
    """The program text begun at a state, every assumption a step that can be taken."""
    program = program.text or program
    threads = tuple(
        replace(
            thread,
            edges=tuple(
                replace(edge, guard=None) if edge.kind is Kind.ASSUME else edge
                for edge in thread.edges
            ),
        )
        for thread in program.threads
    )
    cells = tuple(
        replace(cell, initial=value) for cell, value in zip(program.cells, state, strict=True)
    )
    return replace(program, threads=threads, cells=cells)


def may_write(program: Program, state: State, threads: frozenset[int], held: set[int]) -> set[int]:
    """What the threads, and those that they start, may write."""
    written: set[int] = set()
    work = [(thread, state[program.threads[thread].counter]) for thread in threads]
    seen = set(work)
    while work:
        thread, place = work.pop()
        for edge in program.threads[thread].edges_at(place):
            footprints = Footprints(program)
            if find_needed_locks(footprints, edge, thread) & held:
                continue
            if edge.target in find_sealed(program.threads[thread]):
                continue
            touched = footprints.of_edge(edge).writes
            written |= touched
            following = {(thread, edge.target)}
            for number, other in enumerate(program.threads):
                if other.counter in touched and state[other.counter] in (IDLE, FINISHED):
                    following |= {(number, n) for n in range(3, len(other.locations))}
            work += following - seen
            seen |= following
        written.add(program.threads[thread].counter)
    return written


def find_sealed(thread: Thread) -> set[int]:
    """Locations inside atomic sections that no path leaves: such a step is discarded."""
    found: set[int] = set()
    while more := {
        place
        for place, each in enumerate(thread.locations)
        if each.mode is Mode.ATOMIC and place not in found
        if all(target in found for target in thread.successors(place))
    }:
        found |= more
    return found
