"""From a program to its circuit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from mazurka.ir.native.layout import make_layout
from mazurka.ir.program import DEAD_ENDS, FAULTS, Fault, Program
from mazurka.search import Observer
from mazurka.symbolic.circuit import DEADLOCK, UNROLLING, Circuit, Interleaving
from mazurka.symbolic.environment import ONE_HOT, StateBits
from mazurka.symbolic.graphs.graph import FALSE, Aig
from mazurka.symbolic.graphs.words import Words
from mazurka.symbolic.interleavings import full, peephole, stubborn, sweeps, transactions
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.outlook import find_standstills
from mazurka.symbolic.steps import UNROLLING as USUAL_UNROLLING
from mazurka.symbolic.steps import StepEncoder

FRAMES: dict[Interleaving, Callable[[StepEncoder], Frame]] = {
    Interleaving.FULL: full.build_frame,
    Interleaving.PARTIAL_ORDER: stubborn.build_frame,
    Interleaving.TRANSACTIONS: transactions.build_frame,
    Interleaving.PEEPHOLE: peephole.build_frame,
    Interleaving.SWEEPS: sweeps.build_frame,
    Interleaving.EARLIEST_SWEEPS: partial(sweeps.build_frame, earliest=True),
}
IDLING = frozenset({Interleaving.FULL, Interleaving.SWEEPS})
"""The interleavings in which a frame that is no transition changes nothing by itself."""


def encode(
    program: Program,
    interleaving: Interleaving = Interleaving.SWEEPS,
    *,
    properties: Collection[str] = ("assert", "deadlock"),
    counters: str = ONE_HOT,
    unrolling: int = USUAL_UNROLLING,
    idling: bool = False,
    observer: Observer | None = None,
) -> Circuit:
    """Encode a prepared program.

    `counters` is how latches hold program counters (`mazurka.symbolic.environment`).  Without
    "assert" among the properties a thread that fails an assertion stops, and others go on.
    `idling`: frames that are no transitions change nothing (`Circuit.idles`).
    """
    graph = Aig(observer)
    bits = StateBits(make_layout(program), Words(graph), counters)
    survived = frozenset() if "assert" in properties else frozenset({Fault.ASSERT})
    encoder = StepEncoder(bits, unrolling=unrolling, survived=survived)
    frame = FRAMES[interleaving](encoder)
    idles = interleaving in IDLING
    if idling and not idles:
        let_idle(frame)
    bad = frame.collect(str(fault) for fault in FAULTS if fault not in DEAD_ENDS)
    ends: dict[str, int] = {}
    if DEADLOCK in properties:
        found = find_standstills(encoder, frame.before)
        if found.deadlock != FALSE:
            bad[DEADLOCK] = found.deadlock
        ends = {"stopped": found.stopped, "ended": found.ended, "excused": found.excused}
    choices = [bit for word in encoder.choices.values() for bit in bits.words.literals(word)]
    return Circuit(
        program=program,
        graph=graph,
        bits=bits,
        latches=(*bits.latches, *(latch for latch, _ in frame.extra)),
        nexts=(*frame.nexts, *(taken for _, taken in frame.extra)),
        inputs=(*frame.inputs, *choices),
        constraint=frame.constraint,
        bad=bad,
        unknown=frame.collect((UNROLLING, *map(str, sorted(DEAD_ENDS)))),
        ends=ends,
        events=tuple(frame.events),
        choices=dict(encoder.choices),
        idles=idles or idling,
    )


def let_idle(frame: Frame) -> None:
    """Let a frame change nothing, and take no step, where its constraint does not hold."""
    graph, counts = frame.graph, frame.constraint
    state = [latch.literal for latch in frame.encoder.bits.latches]
    frame.nexts = [
        graph.choose(counts, after, before)
        for before, after in zip(state, frame.nexts, strict=True)
    ]
    frame.extra = [
        (latch, graph.choose(counts, after, latch.literal)) for latch, after in frame.extra
    ]
    frame.events = [
        event._replace(literal=graph.both(counts, event.literal)) if event.fault is None else event
        for event in frame.events
    ]
