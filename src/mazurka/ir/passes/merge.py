"""Make larger steps: merge local steps into those before them, or each source line into one.

A location all of whose edges are local and deterministic need not be a state of its own: no
other thread can observe it, and what the thread does there depends on nothing that another
thread changes.  It becomes `Mode.MERGED`.  In every cycle of such locations one stays visible:
a loop that never ends must remain a loop of the state graph, not a step that never ends.

Local steps before a thread's first visible location are folded into the initial state.

A thread that might be started again could be interrupted by this before a local step.  That makes
a difference if the step writes a cell that the thread then reads first (`find_carried_over`): such
a step is not merged.

**One step per source line**, an option of Java PathFinder, too.  Consecutive edges of a thread
that belong to one line become one step: the locations between them become `Mode.ATOMIC`.  Paper 002
compares its reduction with this granularity.  It is not a sound reduction: what other threads could
have done in the middle of a line is lost, and violations with it.  The violations that remain are
real, since each step of the result is a sequence of steps of the original.

An `ATOMIC` location at which no guard holds disables the whole step, and a step with an infinite
loop never ends.  So a location stays visible if the thread might have to wait there, if an atomic
section (which may have to wait inside) begins there, or if a cycle of such locations closes there.
`yield_()` asks for other threads to run, so it begins a step, too.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.ir.passes.liveness import find_carried_over
from mazurka.ir.program import FIRST_LOCATION, Kind, Location, Mode, Program, Thread
from mazurka.ir.values.footprints import Footprints

MERGEABLE = frozenset({Kind.LOCAL, Kind.ASSERT, Kind.ASSUME, Kind.UNTIL, Kind.END})


def merge_local_steps(program: Program) -> Program:
    footprints, carried = Footprints(program), find_carried_over(program)
    threads = []
    for number, thread in enumerate(program.threads):
        kept = carried.get(number, frozenset())
        merged = remove_loop_heads(thread, find_local_locations(footprints, number, thread, kept))
        if not thread.active:
            merged.discard(thread.entry)
        threads.append(_set_modes(thread, merged))
    return _fold_prefixes(replace(program, threads=tuple(threads)))


def find_local_locations(
    footprints: Footprints, number: int, thread: Thread, carried: frozenset[int]
) -> set[int]:
    """Find the locations at which a thread does nothing that other threads could observe."""
    shared = {
        edge.source
        for edge in thread.edges
        if edge.kind not in MERGEABLE
        or edge.choices > 1
        or thread.locations[edge.target].mode is Mode.ATOMIC
        or not (touched := footprints.of_edge(edge)).only_own(footprints.program, number)
        or touched.writes & carried
    }
    return {
        location
        for location in range(FIRST_LOCATION, len(thread.locations))
        if thread.locations[location].mode is Mode.VISIBLE
        and thread.outgoing[location]
        and location not in shared
    }


def remove_loop_heads(thread: Thread, candidates: set[int]) -> set[int]:
    """Remove the candidates at which a cycle of candidates closes."""
    return candidates - thread.loop_heads(candidates)


def _set_modes(thread: Thread, merged: set[int]) -> Thread:
    locations = [
        replace(location, mode=Mode.MERGED) if number in merged else location
        for number, location in enumerate(thread.locations)
    ]
    return replace(thread, locations=tuple(locations))


def _fold_prefixes(program: Program) -> Program:
    """Start every thread after the local steps with which it begins."""
    interpreter = Interpreter(program)
    state = program.initial_state()
    visible: list[int] = []
    for number, thread in enumerate(program.threads):
        here = thread.locations[interpreter.location(state, number)]
        if not thread.active or here.mode is not Mode.MERGED:
            continue
        step = interpreter.step(state, number)
        if step.outcome is Outcome.MOVED:
            state = step.state
        else:
            visible.append(number)
    threads = tuple(
        _make_entry_visible(thread) if number in visible else thread
        for number, thread in enumerate(program.threads)
    )
    cells = tuple(
        replace(cell, initial=value) for cell, value in zip(program.cells, state, strict=True)
    )
    return replace(program, cells=cells, threads=threads)


def _make_entry_visible(thread: Thread) -> Thread:
    """Make the entry visible, so that a first step that fails or cannot move is reported there."""
    locations = list(thread.locations)
    locations[thread.entry] = Location(Mode.VISIBLE, locations[thread.entry].span)
    return replace(thread, locations=tuple(locations))


class Granularity(enum.StrEnum):
    """What one step is, if local steps are not merged."""

    INSTRUCTION = "instruction"
    """Every edge is a step of its own."""
    LINE = "line"
    """A step runs to the end of its source line."""


GRANULARITIES = tuple(str(granularity) for granularity in Granularity)

PAUSES = frozenset(
    {
        Kind.ASSUME,
        Kind.UNTIL,
        Kind.YIELD,
        Kind.ACQUIRE,
        Kind.WAKE,
        Kind.DOWN,
        Kind.AWAIT,
        Kind.ARRIVE,
        Kind.LEAVE,
        Kind.PUT,
        Kind.GET,
        Kind.HAND_OVER,
        Kind.JOIN,
        Kind.END,
    }
)
"""Operations that begin a step even in the middle of a line: each may have to wait, or yields."""


def merge_lines(program: Program) -> Program:
    """Let other threads run only between lines, and where a thread may have to wait."""
    threads = tuple(
        _merge_line_steps(thread, {thread.entry, program.cells[thread.counter].initial})
        for thread in program.threads
    )
    return replace(program, threads=threads)


def _merge_line_steps(thread: Thread, starts: set[int]) -> Thread:
    inside = {
        location
        for location in range(FIRST_LOCATION, len(thread.locations))
        if location not in starts and _is_inside_a_line(thread, location)
    }
    inside = remove_loop_heads(thread, inside)
    locations = tuple(
        replace(place, mode=Mode.ATOMIC, resets=()) if location in inside else place
        for location, place in enumerate(thread.locations)
    )
    return replace(thread, locations=locations)


def _is_inside_a_line(thread: Thread, location: int) -> bool:
    if thread.locations[location].mode is not Mode.VISIBLE:
        return False
    leaving = list(thread.edges_at(location))
    arriving = [thread.edges[position] for position in thread.arriving[location]]
    lines = {(edge.span.file, edge.span.line) for edge in (*arriving, *leaving)}
    return (
        bool(arriving and leaving)
        and len(lines) == 1
        and thread.is_exhaustive(location)
        and all(edge.kind not in PAUSES for edge in leaving)
        and all(thread.locations[edge.target].mode is not Mode.ATOMIC for edge in leaving)
        # a step that has reached a merged location must not be disabled by what follows
        and all(thread.locations[edge.source].mode is not Mode.MERGED for edge in arriving)
    )
