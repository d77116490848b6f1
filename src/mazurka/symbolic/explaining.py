"""What was made of a program, for `--explain`: how large a circuit is, and what its parts are.

The size of a part is the number of nodes on which it depends; parts share nodes, so the sizes do
not add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mazurka.analysis.futures import find_pattern_locks, find_sticky_locations
from mazurka.ir.program import FIRST_LOCATION, Program
from mazurka.ir.values.footprints import Footprints
from mazurka.search import ExplainedPart
from mazurka.search.naming import name_cells
from mazurka.symbolic.aiger.exporting import UNCONSTRAINED
from mazurka.symbolic.circuit import REDUCED, Circuit, Interleaving
from mazurka.symbolic.environment import ONE_HOT
from mazurka.symbolic.graphs.graph import TRUE, Aig
from mazurka.symbolic.interleavings.earliest import find_conflicting_cells

TRANSITIONS = {
    Interleaving.FULL: "one step of one thread, any that can move",
    Interleaving.PARTIAL_ORDER: "one step of one thread in a conditional stubborn set",
    Interleaving.TRANSACTIONS: (
        "a step of one thread in a conditional stubborn set, which is smaller by the locks that"
        " others hold, and what it does then as long as nobody can interfere"
    ),
    Interleaving.PEEPHOLE: (
        "one step of one thread; of two adjacent independent steps, only one order"
    ),
    Interleaving.SWEEPS: "a round: each thread in turn runs on as far as it likes",
    Interleaving.EARLIEST_SWEEPS: (
        "a round: each thread in turn runs on as far as it likes, but no step comes a round later"
        " than it could"
    ),
}
REMEMBERED = {
    Interleaving.PEEPHOLE: "the last step",
    Interleaving.EARLIEST_SWEEPS: "what others have done since each thread's last turn",
}


def explain_circuit(circuit: Circuit, interleaving: Interleaving, title: str) -> ExplainedPart:
    """A circuit, part by part."""
    graph = circuit.graph
    rows = [
        ("transition", TRANSITIONS[interleaving]),
        ("latches", _describe_latches(circuit, interleaving)),
        ("exported", _describe_export(circuit, interleaving)),
        ("inputs", _describe_inputs(circuit)),
        ("nodes", f"{graph.nodes:,} in all"),
        ("next state", _size(graph, circuit.nexts)),
        ("constraint", _describe_constraint(circuit)),
        ("bad", _describe_literals(graph, circuit.bad) or "nothing can be"),
    ]
    if circuit.unknown:
        rows.append(("not known", _describe_literals(graph, circuit.unknown)))
    rows += describe_analysis(circuit.program, interleaving)
    return ExplainedPart(title, tuple(rows))


def _describe_latches(circuit: Circuit, interleaving: Interleaving) -> str:
    bits = circuit.bits
    counters = sum(len(bits.positions(thread.counter)) for thread in circuit.program.threads)
    data, own = len(bits.latches) - counters, len(bits.latches)
    code = "one for each place" if bits.counters == ONE_HOT else "as numbers"
    parts = [f"{data:,} for data", f"{counters:,} for program counters ({code})"]
    if extra := len(circuit.latches) - own:
        what = REMEMBERED.get(interleaving, "what is asked for")
        parts.append(f"{extra:,} for {what}")
    return f"{len(circuit.latches):,}: {', '.join(parts)}"


def _describe_export(circuit: Circuit, interleaving: Interleaving) -> str:
    """How many latches `mazurka export --format aiger` writes for the same model and interleaving,
    and why these are not those of the circuit, where they are not."""
    bits = circuit.bits
    own, kept, reasons = len(bits.latches), len(circuit.latches) - len(bits.latches), []
    if bits.counters == ONE_HOT:
        for thread in circuit.program.threads:
            own += bits.layout.slots[thread.counter].width - len(bits.positions(thread.counter))
        reasons.append("program counters as numbers")
    if interleaving is Interleaving.EARLIEST_SWEEPS:
        kept, interleaving = 0, Interleaving.SWEEPS
        reasons.append("plain rounds, which remember nothing beside the state")
    if interleaving not in UNCONSTRAINED:
        kept += 1
        reasons.append("one that tells that a frame was no transition")
    latches = f"{own + kept:,} latches in a file (export --format aiger)"
    return f"{latches}: {'; '.join(reasons)}" if reasons else f"{latches}, these"


def _describe_inputs(circuit: Circuit) -> str:
    widths = [len(circuit.bits.words.literals(word)) for word in circuit.choices.values()]
    who = len(circuit.inputs) - sum(widths)
    parts = [f"{who:,} for who moves"]
    if widths:
        many = f"{len(widths):,} choice{'' if len(widths) == 1 else 's'}"
        parts.append(f"{sum(widths):,} for {many}, the widest of {max(widths)}")
    return f"{len(circuit.inputs):,}: {', '.join(parts)}"


def _describe_constraint(circuit: Circuit) -> str:
    if circuit.constraint == TRUE:
        return "none: every frame is a transition"
    return _size(circuit.graph, [circuit.constraint])


def _describe_literals(graph: Aig, literals: Mapping[str, int]) -> str:
    return "; ".join(f"{name} {_size(graph, [literal])}" for name, literal in literals.items())


def _size(graph: Aig, literals: Iterable[int]) -> str:
    wanted = [literal for literal in literals if literal > TRUE]
    if not wanted:
        return "constant"
    count = int(graph.mark_cone(wanted).sum())
    return f"{count:,} node{'' if count == 1 else 's'}"


def describe_analysis(program: Program, interleaving: Interleaving) -> Iterator[tuple[str, str]]:
    """What the analysis of the text has contributed to a constraint."""
    if interleaving in REMEMBERED or interleaving in REDUCED:
        touched = find_conflicting_cells(Footprints(program))
        cells = sorted({cell for reads, writes in touched for cell in (*reads, *writes)})
        yield "conflicts", name_cells(program, cells) or "none: threads have nothing in common"
    if interleaving in REDUCED:
        yield "sticky", describe_sticky(program)
    if interleaving is Interleaving.TRANSACTIONS:
        locks = sorted(find_pattern_locks(program))
        yield "lock patterns", name_cells(program, locks) or "no lock that only its holder releases"


def describe_sticky(program: Program) -> str:
    """The places at which a set must be everyone: each loop has one."""
    texts = []
    for thread, sticky in zip(program.threads, find_sticky_locations(program), strict=True):
        spans = (thread.locations[place].span for place in sticky if place >= FIRST_LOCATION)
        lines = sorted({span.line for span in spans if span is not None})
        if sticky:
            at = f" (line {', '.join(map(str, lines))})" if lines else ""
            texts.append(f"{thread.name} {len(sticky):,}{at}")
    return "; ".join(texts) or "no place: no thread goes round"
