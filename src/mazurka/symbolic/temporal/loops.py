"""Liveness as safety: a circuit in which a run that violates a formula is a bad state.

Biere, Artho, Schuppan, *Liveness Checking as Safety Checking* (FMICS 2002).  Beside the state, the
circuit remembers a copy of an earlier one, and which literals of `justice` have held since:

| latch | first value | what it takes in a transition |
|---|---|---|
| `saved` | 0 | 1 if the input `save` says so; then it stays 1 |
| `copy` of each latch | 0 | the latch's value, where `save` says so for the first time |
| `met` for each literal of justice | 0 | 1 if it holds, and a state is saved, now or before |

A state is bad if one is saved, all are met, and the state equals the copy.

**Theorem.**  A bad state is reachable if and only if there is an infinite path on which every
literal of justice holds infinitely often.

*Proof.*  From the saved state transitions have led back to it, on which every literal has held:
these can be repeated for ever (at least one, since there is a literal, and it was not met before).
Conversely, such a path visits one of its finitely many states infinitely often; let it be saved at
one visit, and wait for the first later visit by which every literal has held since.

A frame that is no transition leaves all of these as they are.

**Runs that come to rest.**  A thread of the program that does not move where none can will never
move again.  So if no path has a move of the program behind its first n transitions, its state does
not change from there on, and what is left is the automaton: with q states, and j literals of
justice, a bad state that can be reached at all is reached within q * (j + 2) transitions more.  On
a shortest path no state occurs twice: there are up to q of them before one is saved; afterwards the
copy stays, `met` only grows, in up to j + 1 steps, and each time there are up to q again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from mazurka.search.result import LASSO
from mazurka.symbolic.circuit import Circuit, Rest
from mazurka.symbolic.environment import Latch
from mazurka.symbolic.temporal.runs import FairRuns


@dataclass(frozen=True)
class LoopCircuit(Circuit):
    """The runs of a program, with the question whether one of them closes a loop."""

    saved: int
    """The position of the latch among those behind the state: whether the loop has begun."""
    claim: int
    """The thread whose moves are the automaton's."""
    rest: Rest
    """How to tell that all runs have come to rest."""


def close_loops(runs: FairRuns) -> LoopCircuit:
    """Add to a circuit of runs what tells that a loop meets all of its justice."""
    circuit, graph = runs.circuit, runs.circuit.graph
    save = graph.add_leaf()
    saved = graph.add_leaf()
    begins = graph.both(circuit.constraint, graph.both(save, saved ^ 1))
    extra: list[tuple[Latch, int]] = [
        (Latch(saved, 0, "the loop has begun"), graph.either(saved, begins))
    ]
    same = []
    for latch in circuit.latches:
        copy = graph.add_leaf()
        taken = graph.choose(begins, latch.literal, copy)
        extra.append((Latch(copy, 0, f"{latch.name} where the loop begins"), taken))
        same.append(graph.differ(copy, latch.literal) ^ 1)
    counts = graph.both(circuit.constraint, graph.either(saved, save))
    met = []
    for number, literal in enumerate(runs.justice):
        before = graph.add_leaf()
        held = graph.either(before, graph.both(counts, literal))
        extra.append((Latch(before, 0, f"condition {number} is met in the loop"), held))
        met.append(before)
    closed = graph.every([saved, *met, *same])
    given = {each.name: getattr(circuit, each.name) for each in fields(Circuit)}
    given |= {
        "latches": (*circuit.latches, *(latch for latch, _ in extra)),
        "nexts": (*circuit.nexts, *(taken for _, taken in extra)),
        "inputs": (*circuit.inputs, save),
        "bad": {LASSO: closed},
    }
    states = len(circuit.bits.layout.starts[runs.claim])
    rest = Rest(runs.moving, states * (len(runs.justice) + 2))
    return LoopCircuit(**given, saved=0, claim=runs.claim, rest=rest)
