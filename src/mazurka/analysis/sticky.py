"""Sticky locations: some on every cycle that a thread can go round by itself.

Kurshan, Levin, Minea, Peled, Yenigün, *Static Partial Order Reduction* (TACAS 1998), as used in
paper 004, section 4.2.  A cycle of states projects to a closed walk of every thread that moves
along it.  If each such walk leaves a *sticky* location, and a thread that stands at one counts as
in conflict with all others, then every cycle of a reduced search contains a state from which all
threads are explored, and none is put off for ever.

The graph has a thread's locations as nodes and its steps as arcs: where a step may begin, and
where it may come to rest.  The targets of the arcs that lead back in a depth-first search break all
its cycles; those of a structured program are the heads of its loops.

A thread that may be started again has cycles outside the graph, through the hands of its creators;
all of them begin anew at one of its beginnings, so these are sticky, too.
"""

from __future__ import annotations

from mazurka.analysis.ownership import reach
from mazurka.analysis.restarts import restartable_threads
from mazurka.ir.passes.held import Ownership
from mazurka.ir.program import FIRST_LOCATION, Mode, Program, Thread


def sticky_locations(program: Program) -> list[frozenset[int]]:
    """By thread: locations of which every local cycle contains at least one."""
    beginnings = Ownership(program).beginnings
    restartable = restartable_threads(program)
    found = []
    for number, thread in enumerate(program.threads):
        starts = sorted(place for place in beginnings[number] if place >= FIRST_LOCATION)
        sticky = feedback_locations(thread, starts)
        found.append(sticky.union(starts) if number in restartable else sticky)
    return found


def feedback_locations(thread: Thread, starts: list[int]) -> frozenset[int]:
    """Where the arcs of a depth-first search lead back to; without them no cycle is left.

    Search begins at `starts`, so that loops are entered by their heads, and then takes in what is
    not reached from there: whether it ever is does not matter.
    """
    steps = [_rests(thread, location) for location in range(len(thread.locations))]
    found: set[int] = set()
    finished: set[int] = set()
    open_now: set[int] = set()
    for root in (*starts, *range(FIRST_LOCATION, len(thread.locations))):
        path = [(root, iter(steps[root]))] if root not in finished else []
        open_now.update(place for place, _ in path)
        while path:
            location, following = path[-1]
            target = next(following, None)
            if target is None:
                path.pop()
                open_now.discard(location)
                finished.add(location)
            elif target in open_now:
                found.add(target)
            elif target not in finished:
                open_now.add(target)
                path.append((target, iter(steps[target])))
    return frozenset(found)


def _rests(thread: Thread, location: int) -> tuple[int, ...]:
    """Where a step from a location may come to rest; nobody rests inside an atomic section."""
    if thread.locations[location].mode is Mode.ATOMIC:
        return ()
    return reach(thread, location).rests
