"""One step of one thread a frame: every interleaving, as it is.

A number among the inputs says which thread moves.  The frame is a transition where that thread can
move; other frames change nothing.
"""

from __future__ import annotations

from mazurka.symbolic.circuit import StepEvent
from mazurka.symbolic.environment import Environment, Places, merge_places
from mazurka.symbolic.graph import FALSE
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder
from mazurka.symbolic.words import Word


def build_frame(encoder: StepEncoder) -> Frame:
    frame = Frame(encoder)
    graph, before = encoder.graph, frame.before
    threads = range(len(encoder.program.threads))
    width = (len(threads) - 1).bit_length()
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
    frame.events += moves
    frame.constraint = graph.some(event.literal for event in moves)
    frame.nexts = encoder.bits.encode(before, apply_steps(encoder, before, taken))
    return frame


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
