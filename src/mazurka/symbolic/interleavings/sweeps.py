"""A round a frame: each thread in turn runs on as far as it likes.

In its turn a thread passes its locations in an order in which most steps lead forward.  At each
location it takes its step, or stops for this round (a free input).  A step that leads to a location
before, or to where it began, ends the turn.  So each location is encoded once in a frame, which is
about as large as one of the full interleaving, while a violation lies as many frames deep as its
schedule has changes of threads, or ways round loops.

**The states at the ends of rounds are the reachable states.**  A round is a sequence of steps that
the program can take: a step is encoded in the environment that the steps before it have left, and
taken only where its thread is at its location and the step takes place.  So the end of a round is
reachable.  Conversely every single step of a thread t is a round: all others stop at their first
locations, and t stops after the step, or its turn is over; so every reachable state is an end of a
round.  The faults of a step are noted where its thread comes to the location, whether or not it
would stop there; so a fault is possible in a round exactly if it is after some steps of one.

A thread cannot take two steps from one location in a turn: once the location has been passed, the
thread is there again only by a step back, and that ends its turn.  A thread that another one has
started earlier in the round has its turn as any other; one that is started later begins in the next
round.
"""

from __future__ import annotations

from functools import partial

from mazurka.analysis.ownership import reach
from mazurka.ir.program import FIRST_LOCATION, Thread, search_depth_first
from mazurka.symbolic.circuit import StepEvent
from mazurka.symbolic.environment import Environment, Places
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.interleavings.earliest import EarliestTurns
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder


def build_frame(encoder: StepEncoder, *, earliest: bool = False) -> Frame:
    """`earliest`: keep only schedules in which every step is taken in the earliest turn possible
    (`mazurka.symbolic.interleavings.earliest`)."""
    frame = Frame(encoder)
    turns = EarliestTurns(frame) if earliest else None
    now = Environment(dict(frame.before.cells), list(frame.before.places))
    for thread in range(len(encoder.program.threads)):
        take_turn(frame, now, thread, turns)
    moves = encoder.graph.some(event.literal for event in frame.events if event.fault is None)
    frame.constraint = encoder.graph.both(frame.constraint, moves)
    if turns is not None:
        turns.finish()
    frame.nexts = encoder.bits.encode(frame.before, now)
    return frame


def take_turn(
    frame: Frame, now: Environment, thread: int, turns: EarliestTurns | None = None
) -> None:
    """Let a thread pass its locations; `now` is what the cells hold, before and after."""
    encoder, graph = frame.encoder, frame.graph
    ranks = rank_locations(encoder, thread)
    at: Places = dict(now.places[thread])
    done: Places = dict.fromkeys(at, FALSE)
    """Where the thread has come by a step that ended its turn."""
    if turns is not None:
        turns.begin(thread, at)
    for start in sorted(encoder.starts(thread), key=ranks.__getitem__):
        if at[start] == FALSE:
            continue
        record = encoder.encode(now, thread, start)
        frame.add_faults(record, at[start])
        able = graph.both(at[start], record.moved)
        if able == FALSE:
            continue
        runs = graph.both(able, frame.add_input())
        frame.events.append(StepEvent(runs, thread))
        if turns is not None:
            turns.take(record, start, runs)
        at[start] = graph.both(at[start], runs ^ 1)
        for target, arrives in record.places[thread].items():
            table = at if ranks[target] > ranks[start] else done
            table[target] = graph.either(table[target], graph.both(runs, arrives))
        apply_step(encoder, now, record, runs)
    if turns is not None:
        turns.end(graph.some(done.values()))
    now.places[thread] = {place: graph.either(at[place], done[place]) for place in at}


def apply_step(encoder: StepEncoder, now: Environment, record: StepRecord, runs: int) -> None:
    """Change what the step changes, where it is taken; the thread's own place is kept apart."""
    graph, words = encoder.graph, encoder.words
    for address, word in record.cells.items():
        now.cells[address] = words.select(runs, word, now.cells[address])
    for thread, places in record.places.items():
        if thread != record.thread:
            old = now.places[thread]
            now.places[thread] = {at: graph.choose(runs, places[at], old[at]) for at in old}


def rank_locations(encoder: StepEncoder, thread: int) -> dict[int, int]:
    """The order in which a turn passes the locations where a thread rests.

    Reverse postorder of its steps, from where it begins: only a step that closes a loop leads
    back.  The locations that no step leaves come last.
    """
    automaton = encoder.program.threads[thread]
    first = encoder.program.cells[automaton.counter].initial
    roots = [first, automaton.entry, *encoder.layout.starts[thread]]
    finished, _ = search_depth_first(
        [place for place in roots if place >= FIRST_LOCATION], partial(find_rests, automaton)
    )
    order = finished[::-1]
    ranks = {location: number for number, location in enumerate(order)}
    return ranks | dict.fromkeys(range(FIRST_LOCATION), len(order))


def find_rests(thread: Thread, location: int) -> list[int]:
    """Where a step from a location may end, other than by ending the thread."""
    return [place for place in reach(thread, location).rests if place >= FIRST_LOCATION]
