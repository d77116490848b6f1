"""Merges local steps into the steps before them.

A location all of whose edges are local and deterministic need not be a state of its own: no
other thread can observe it, and what the thread does there depends on nothing that another
thread changes.  It becomes `Mode.MERGED`.  In every cycle of such locations one stays visible:
a loop that never ends must remain a loop of the state graph, not a step that never ends.

Local steps that a thread takes before its first visible location are folded into the initial
state.

A thread that might be started again could be stopped by that before a local step.  It makes a
difference where the step writes what the thread then finds (`carried_over`): such a step stays.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.ir.passes.liveness import carried_over
from mazurka.ir.program import FIRST_LOCATION, Kind, Location, Mode, Program, Thread
from mazurka.ir.values.footprints import Footprints

MERGEABLE = frozenset({Kind.LOCAL, Kind.ASSERT, Kind.ASSUME})


def merge_local_steps(program: Program) -> Program:
    footprints, carried = Footprints(program), carried_over(program)
    threads = []
    for number, thread in enumerate(program.threads):
        kept = carried.get(number, frozenset())
        merged = acyclic(thread, _local_locations(footprints, number, thread, kept))
        if not thread.active:
            merged.discard(thread.entry)
        threads.append(_with_modes(thread, merged))
    return _fold_prefixes(replace(program, threads=tuple(threads)))


def _local_locations(
    footprints: Footprints, number: int, thread: Thread, carried: frozenset[int]
) -> set[int]:
    """Where a thread does nothing that others could notice."""
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


def acyclic(thread: Thread, candidates: set[int]) -> set[int]:
    """The candidates without those at which a cycle of candidates closes (depth-first search)."""
    merged = set(candidates)
    done: set[int] = set()
    open_: set[int] = set()
    for root in sorted(candidates):
        if root in done:
            continue
        stack = [(root, iter(thread.outgoing[root]))]
        open_.add(root)
        while stack:
            location, edges = stack[-1]
            position = next(edges, None)
            if position is None:
                stack.pop()
                open_.discard(location)
                done.add(location)
                continue
            target = thread.edges[position].target
            if target in open_:
                merged.discard(target)
            elif target in candidates and target not in done:
                open_.add(target)
                stack.append((target, iter(thread.outgoing[target])))
    return merged


def _with_modes(thread: Thread, merged: set[int]) -> Thread:
    locations = [
        replace(location, mode=Mode.MERGED) if number in merged else location
        for number, location in enumerate(thread.locations)
    ]
    return replace(thread, locations=tuple(locations))


def _fold_prefixes(program: Program) -> Program:
    """Start every thread behind the local steps that it begins with."""
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
        _with_visible_entry(thread) if number in visible else thread
        for number, thread in enumerate(program.threads)
    )
    cells = tuple(
        replace(cell, initial=value) for cell, value in zip(program.cells, state, strict=True)
    )
    return replace(program, cells=cells, threads=threads)


def _with_visible_entry(thread: Thread) -> Thread:
    """A first step that fails, or never gets anywhere, is seen where it happens."""
    locations = list(thread.locations)
    locations[thread.entry] = Location(Mode.VISIBLE, locations[thread.entry].span)
    return replace(thread, locations=tuple(locations))
