"""One step a source line, as Java PathFinder can be told to do.

Consecutive edges of a thread that belong to one line become one step: the locations between them
become `Mode.ATOMIC`.  Paper 002 compares its reduction with this granularity.  It is no reduction:
what other threads could have done in the middle of a line is lost, and violations with it.  What
remains is real, since each step of the result is a sequence of steps of the original.

An `ATOMIC` location at which no guard holds disables the whole step, and a step that runs in
circles never ends.  So a location stays visible if the thread might have to wait there, if an
atomic section (which may have to wait inside) begins there, or if a cycle of such locations
closes there.  `yield_()` asks for other threads to run, hence it begins a step too.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import replace

from mazurka.ir.passes.merge import acyclic
from mazurka.ir.program import FIRST_LOCATION, Edge, Kind, Mode, Program, Thread


class Granularity(enum.StrEnum):
    """What one step is, where it is not left to the merging of local steps."""

    INSTRUCTION = "instruction"
    """Every edge is a step of its own."""
    LINE = "line"
    """A step runs to the end of its source line."""


GRANULARITIES = tuple(str(granularity) for granularity in Granularity)

PAUSES = frozenset(
    {
        Kind.ASSUME,
        Kind.YIELD,
        Kind.ACQUIRE,
        Kind.WAKE,
        Kind.DOWN,
        Kind.AWAIT,
        Kind.ARRIVE,
        Kind.LEAVE,
        Kind.PUT,
        Kind.GET,
        Kind.JOIN,
    }
)
"""Operations that begin a step even in the middle of a line: each may have to wait, or asks to."""


def one_step_a_line(program: Program) -> Program:
    """The program in which other threads run between lines, and where a thread may have to wait."""
    threads = tuple(
        _one_step_a_line(thread, {thread.entry, program.cells[thread.counter].initial})
        for thread in program.threads
    )
    return replace(program, threads=threads)


def _one_step_a_line(thread: Thread, starts: set[int]) -> Thread:
    arriving: list[list[Edge]] = [[] for _ in thread.locations]
    for edge in thread.edges:
        arriving[edge.target].append(edge)
    inside = {
        location
        for location in range(FIRST_LOCATION, len(thread.locations))
        if location not in starts and _is_inside_a_line(thread, location, arriving[location])
    }
    inside = acyclic(thread, inside)
    locations = tuple(
        replace(place, mode=Mode.ATOMIC, resets=()) if location in inside else place
        for location, place in enumerate(thread.locations)
    )
    return replace(thread, locations=locations)


def _is_inside_a_line(thread: Thread, location: int, arriving: list[Edge]) -> bool:
    if thread.locations[location].mode is not Mode.VISIBLE:
        return False
    leaving = list(thread.edges_at(location))
    return (
        _on_one_line(arriving, leaving)
        and thread.is_exhaustive(location)
        and all(edge.kind not in PAUSES for edge in leaving)
        and all(thread.locations[edge.target].mode is not Mode.ATOMIC for edge in leaving)
        # what follows a merged location is no part of a step that can be disabled
        and all(thread.locations[edge.source].mode is not Mode.MERGED for edge in arriving)
    )


def _on_one_line(arriving: list[Edge], leaving: list[Edge]) -> bool:
    if not arriving or not leaving:
        return False
    return len(_lines(arriving) | _lines(leaving)) == 1


def _lines(edges: Iterable[Edge]) -> set[tuple[str, int]]:
    return {(edge.span.file, edge.span.line) for edge in edges}
