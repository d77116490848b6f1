"""What a verdict on a C program assumes of memory, and races that only relaxed atomics exclude.

Memory is sequentially consistent in programs.  For a source without data races whose atomic
operations are all sequentially consistent C11 promises that; every other verdict names it in its
scope.  A search for races takes any atomic operation for one that orders what is around it: where
some are weaker than release and acquire, the program without the order that they give is searched
as well (`mazurka.ir.passes.unordered`).
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.analysis.racing import find_racing_cells
from mazurka.deadline import TimeLimitError
from mazurka.ir.passes.unordered import UnknownOrderError, without_relaxed_order
from mazurka.ir.program import Program, Span
from mazurka.ir.values.footprints import Footprints
from mazurka.report.trace import confirm
from mazurka.search import Observer, SearchOptions, Strategy

SEQUENTIAL_CONSISTENCY = "memory is sequentially consistent"
RELAXED = "only atomic operations weaker than release and acquire order these"


def find_assumptions(program: Program, *, race_free: bool) -> tuple[str, ...]:
    """What a verdict that reports no violation takes for granted.

    `race_free` says that a search has shown that there are no races."""
    if program.weak and len(program.threads) > 1:
        return (SEQUENTIAL_CONSISTENCY, *program.assumed)
    try:
        racing = not race_free and bool(find_racing_cells(program))
    except TimeLimitError:
        racing = True
    return (SEQUENTIAL_CONSISTENCY, *program.assumed) if racing else program.assumed


def find_hidden_race(
    program: Program, strategy: Strategy, options: SearchOptions, observer: Observer
) -> str | None:
    """Why a program in which no race has been found may have one after all; None if it has none."""
    if not any(edge.relaxed for edge in program.edges):
        return None
    cells = find_racing_cells(program)
    if not cells:
        return None
    observer.message("searching without the order of relaxed atomic operations")
    asked = replace(options, properties=frozenset({"race"}), self_check=False)
    try:
        changed = without_relaxed_order(program)
    except UnknownOrderError:
        return f"{_name_accesses(program, min(cells))}: {RELAXED}"
    result = strategy.run(changed, asked, observer)
    if result.violation is not None:
        finding, _ = confirm(changed, result.violation)
        if finding.kind == "race":
            return f"{finding.message}: {RELAXED}"
    elif not result.limits:
        return None
    return f"{_name_accesses(program, min(cells))}: {RELAXED}"


def _name_accesses(program: Program, cell: int) -> str:
    """Two places where threads access a cell, at one of which they write it."""
    footprints = Footprints(program)
    writes: list[tuple[int, Span]] = []
    accesses: list[tuple[int, Span]] = []
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            touched = footprints.of_edge(edge)
            if cell in touched.writes:
                writes.append((number, edge.span))
            if cell in touched.reads | touched.writes:
                accesses.append((number, edge.span))
    writer, written = writes[0]
    other = next(span for number, span in accesses if number != writer)
    name = program.cells[cell].name
    return f"`{name}` is written at line {written.line} and accessed at line {other.line}"
