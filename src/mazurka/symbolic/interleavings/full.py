"""One step of one thread a frame: every interleaving, as it is.

A number among the inputs says which thread moves.  The frame is a transition where that thread can
move; other frames change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.symbolic.circuit import StepEvent
from mazurka.symbolic.environment import Environment, Places, merge_places
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.graphs.words import Word
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder


def build_frame(encoder: StepEncoder) -> Frame:
    frame = Frame(encoder)
    taken, moves = choose_mover(frame, range(len(encoder.program.threads)))
    frame.events += moves
    frame.constraint = encoder.graph.some(event.literal for event in moves)
    frame.nexts = encoder.bits.encode(frame.before, apply_steps(encoder, frame.before, taken))
    return frame


def choose_mover(
    frame: Frame, threads: Sequence[int]
) -> tuple[list[tuple[int, StepRecord]], list[StepEvent]]:
    """The steps of these threads, of which the inputs choose at most one, and who makes it."""
    encoder, graph, before = frame.encoder, frame.graph, frame.before
    width = (max(threads, default=0)).bit_length()
    literals = [frame.add_input() for _ in range(width)]
    chosen = encoder.words.from_bits(literals, 0, (1 << width) - 1)
    taken: list[tuple[int, StepRecord]] = []
    moves: list[StepEvent] = []
    for thread in threads:
        mine: list[int] = []
        for start in encoder.starts(thread):
            at = before.places[thread][start]
            record = encoder.encode(before, thread, start)
            frame.records[thread, start] = record
            frame.add_faults(record, at)
            runs = graph.both(at, graph.both(encoder.words.equals(chosen, thread), record.moved))
            if runs != FALSE:
                taken.append((runs, record))
                mine.append(runs)
        moves.append(StepEvent(graph.some(mine), thread))
    return taken, moves


def apply_steps(
    encoder: StepEncoder, before: Environment, taken: list[tuple[int, StepRecord]]
) -> Environment:
    """The environment after the step whose condition holds, if one does."""
    cells: dict[int, list[tuple[int, Word]]] = {}
    moved: dict[int, list[tuple[int, Places]]] = {}
    for runs, record in taken:
        for address, word in record.cells.items():
            cells.setdefault(address, []).append((runs, word))
        for thread, places in record.places.items():
            moved.setdefault(thread, []).append((runs, places))
    after = Environment(dict(before.cells), list(before.places))
    for address, cases in cells.items():
        after.cells[address] = encoder.words.pick(cases, before.cells[address])
    graph = encoder.graph
    for thread, parts in moved.items():
        none = graph.some(runs for runs, _ in parts) ^ 1
        after.places[thread] = merge_places(graph, [(none, before.places[thread]), *parts])
    return after
