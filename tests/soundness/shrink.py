"""Makes a program that shows a mistake smaller, as long as it still shows it.

Greedy: every simplification is tried in turn, kept where the mistake persists, until none is left.
The addresses of cells stay as they are, so a thread that is not needed remains as one that has
finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from mazurka.ir.dot import format_edge
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, children
from mazurka.ir.passes.validate import MalformedProgramError, validate
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Assign,
    Edge,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Thread,
)


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A smaller program for which `fails` is still true."""
    assert fails(program)
    position, progress = 0, False
    while True:
        candidates = list(_simplifications(program))
        if position >= len(candidates):
            if not progress:
                return program
            position, progress = 0, False
            continue
        smaller = candidates[position]
        if _is_valid(smaller) and fails(smaller):
            program, progress = smaller, True  # what comes next has moved up to this position
        else:
            position += 1


def _is_valid(program: Program) -> bool:
    try:
        validate(program)
    except MalformedProgramError:
        return False
    return True


def _simplifications(program: Program) -> Iterator[Program]:
    """Simpler programs, those that leave out most first."""
    if program.declared:
        yield replace(program, declared={})
    for number, thread in enumerate(program.threads):
        if thread.edges:
            yield _without(program, number)
    for number, thread in enumerate(program.threads):
        for simpler in _simpler_threads(thread):
            yield _with_thread(program, number, simpler)
    for number, thread in enumerate(program.threads):
        if not thread.active:
            yield _always_there(program, number)
    for address, cell in enumerate(program.cells):
        if cell.initial and cell.low <= 0 and cell.owner is None and not cell.points:
            cells = list(program.cells)
            cells[address] = replace(cell, initial=0)
            yield replace(program, cells=tuple(cells))


def _with_thread(program: Program, number: int, thread: Thread) -> Program:
    threads = list(program.threads)
    threads[number] = thread
    return replace(program, threads=tuple(threads))


def _started_at(program: Program, thread: Thread, location: int) -> Program:
    cells = list(program.cells)
    cells[thread.counter] = replace(cells[thread.counter], initial=location)
    return replace(program, cells=tuple(cells))


def _without(program: Program, number: int) -> Program:
    thread = replace(program.threads[number], edges=(), active=True)
    return _started_at(_with_thread(program, number, thread), thread, FINISHED)


def _always_there(program: Program, number: int) -> Program:
    thread = replace(program.threads[number], active=True)
    return _started_at(_with_thread(program, number, thread), thread, thread.entry)


def _simpler_threads(thread: Thread) -> Iterator[Thread]:
    for position, edge in enumerate(thread.edges):
        others = (*thread.edges[:position], *thread.edges[position + 1 :])
        yield replace(thread, edges=others)
        if edge.source != edge.target:
            yield _passed_over(thread, edge, others)
        if edge.target != FINISHED:
            yield replace(thread, edges=(*others, replace(edge, target=FINISHED)))
    for position, edge in enumerate(thread.edges):
        alone = len(thread.outgoing[edge.source]) == 1
        for simpler in _simpler_edges(edge, alone):
            edges = (*thread.edges[:position], simpler, *thread.edges[position + 1 :])
            yield replace(thread, edges=edges)
    for location, place in enumerate(thread.locations):
        if place.mode is not Mode.VISIBLE or place.resets:
            locations = list(thread.locations)
            locations[location] = Location()
            yield replace(thread, locations=tuple(locations))


def _passed_over(thread: Thread, edge: Edge, others: tuple[Edge, ...]) -> Thread:
    """The source of an edge becomes its target."""
    if edge.target < FIRST_LOCATION:
        edges = tuple(
            replace(other, target=edge.target) if other.target == edge.source else other
            for other in others
            if other.source != edge.source
        )
        return replace(thread, edges=edges)
    moved = tuple(
        replace(other, source=edge.source) if other.source == edge.target else other
        for other in others
        if other.source != edge.source
    )
    edges = tuple(
        replace(other, target=edge.source) if other.target == edge.target else other
        for other in moved
    )
    return replace(thread, edges=edges)


def _simpler_edges(edge: Edge, alone: bool) -> Iterator[Edge]:
    """Guards must go on excluding each other, and synchronization keeps its shape."""
    if edge.subject is not None:
        return
    for position in range(len(edge.operations)):
        yield replace(edge, operations=edge.operations[:position] + edge.operations[position + 1 :])
    if edge.guard is not None and alone:
        yield replace(edge, guard=None)
        for guard in _simpler(edge.guard):
            yield replace(edge, guard=guard)
    if edge.choices > 1:
        yield replace(edge, choices=edge.choices - 1)
    if not edge.operations and edge.guard is None and edge.kind is not Kind.LOCAL:
        yield replace(edge, kind=Kind.LOCAL, atomic=False, choices=1)
    for position, operation in enumerate(edge.operations):
        for simpler in _simpler_operations(operation):
            changed = (*edge.operations[:position], simpler, *edge.operations[position + 1 :])
            yield replace(edge, operations=changed)


def _simpler_operations(operation: Operation) -> Iterator[Operation]:
    if isinstance(operation, Assign):
        for value in _simpler(operation.value):
            yield replace(operation, value=value)
    else:
        for condition in _simpler(operation.condition):
            yield replace(operation, condition=condition)


def _simpler(expr: Expr) -> Iterator[Expr]:
    """Parts of an expression, or a constant."""
    if isinstance(expr, Const):
        return
    yield ZERO
    yield ONE
    yield from (part for part in children(expr) if not isinstance(part, Const))


def listing(program: Program) -> str:
    """A program as text: cells that occur, then each thread's edges."""
    lines = []
    text = "\n".join(format_edge(program, edge) for edge in program.edges)
    for cell in program.cells:
        if cell.name in text and cell.owner is None:
            lines.append(f"{cell.name}: {cell.role}, starts at {cell.initial}")
    for thread in program.threads:
        if not thread.edges:
            continue
        start = program.cells[thread.counter].initial
        marks = "created later" if start == IDLE else f"starts at {start}"
        lines.append(f"{thread.name} ({marks}{', observer' if thread.observer else ''})")
        for edge in thread.edges:
            label = format_edge(program, edge).replace("\n", "; ")
            mode = thread.locations[edge.source].mode
            shown = "" if mode is Mode.VISIBLE else f" {mode}"
            atomic = (
                " indivisible" if edge.atomic and edge.kind in (Kind.ACCESS, Kind.LOCAL) else ""
            )
            lines.append(f"  {edge.source}{shown} -> {edge.target}: {label}{atomic}")
    return "\n".join(lines)
