"""A circuit of a program as AIGER has it.

Inputs and latches keep their positions, so a witness says what the inputs of a frame are without
any table.  Each part of `Circuit.bad` is a bad literal of its own, named after the property; what
is not known (`Circuit.unknown`) is bad, too, since a proof has to exclude it.

*Constraints.*  A frame of a circuit may be bad without being a transition, but AIGER's constraints
hold in every frame of a run, in the last one as well.  So a latch remembers that some frame before
was no transition, and the constraint is that it is not set.  Where a frame that is no transition
changes nothing (the plain interleavings), runs with and without such frames reach the same, and
nothing is constrained.  For infinite runs that is not so: with `justice` or `fairness` frames are
always constrained.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.symbolic.aiger.model import AigerCircuit, AigerLatch
from mazurka.symbolic.circuit import Circuit, Interleaving
from mazurka.symbolic.graphs.numbering import Numbering

UNCONSTRAINED = frozenset({Interleaving.FULL, Interleaving.SWEEPS})
"""The interleavings in which a frame that is no transition changes nothing."""
OVER = "over"
"""The name of the latch that remembers a frame that was no transition."""


def list_bad(circuit: Circuit) -> dict[str, int]:
    """What is bad in the exported circuit, by name, in the order of the file."""
    return {**circuit.bad, **circuit.unknown}


def export_circuit(
    circuit: Circuit,
    interleaving: Interleaving,
    *,
    comment: str = "",
    justice: Sequence[Sequence[int]] = (),
    fairness: Sequence[int] = (),
) -> AigerCircuit:
    """`justice` and `fairness` are literals of the circuit's graph."""
    graph, bad = circuit.graph, list_bad(circuit)
    latches = [(latch.literal, latch.initial, latch.name) for latch in circuit.latches]
    nexts, constraints = list(circuit.nexts), []
    if interleaving not in UNCONSTRAINED or justice or fairness:
        over = graph.add_leaf()
        latches.append((over, 0, OVER))
        nexts.append(graph.either(over, circuit.constraint ^ 1))
        constraints.append(over ^ 1)
    asked = [*bad.values(), *constraints, *(each for some in justice for each in some), *fairness]
    leaves = [*circuit.inputs, *(literal for literal, _, _ in latches)]
    numbers = Numbering(graph, leaves, [*nexts, *asked])
    symbols = {f"i{place}": name for place, name in enumerate(name_inputs(circuit))}
    symbols |= {f"l{place}": name for place, (_, _, name) in enumerate(latches)}
    symbols |= {f"b{place}": name for place, name in enumerate(bad)}
    return AigerCircuit(
        inputs=len(circuit.inputs),
        latches=tuple(
            AigerLatch(numbers.literal(taken), first)
            for taken, (_, first, _) in zip(nexts, latches, strict=True)
        ),
        conjunctions=numbers.conjunctions(),
        bad=tuple(map(numbers.literal, bad.values())),
        constraints=tuple(map(numbers.literal, constraints)),
        justice=tuple(tuple(map(numbers.literal, each)) for each in justice),
        fairness=tuple(map(numbers.literal, fairness)),
        symbols={place: " ".join(name.split()) for place, name in symbols.items()},
        comment=comment,
    )


def name_inputs(circuit: Circuit) -> list[str]:
    """What the inputs are called: those behind choices after their threads and lines."""
    names = {literal: f"schedule.{place}" for place, literal in enumerate(circuit.inputs)}
    for key, word in circuit.choices.items():
        thread = circuit.program.threads[key.thread]
        line = thread.edges[key.edge].span.line
        for bit, literal in enumerate(circuit.bits.words.literals(word)):
            if literal in names:
                called = f"{thread.name}@{key.start}:line{line}.{key.repetition}"
                names[literal] = f"choice.{called}.{bit}"
    return [names[literal] for literal in circuit.inputs]
