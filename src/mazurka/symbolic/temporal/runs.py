"""The runs that violate a formula, as a circuit with justice: what all back ends begin with.

The automaton of the negated formula is one more thread of the program (`mazurka.ltl.claim`).  A
transition of the circuit is one step of the automaton, which reads the state before, and one step
of one other thread; where no thread can move, the program stays and the automaton moves alone.
`constraint` says that both take place.  So the infinite paths of the circuit are the runs of the
program (`docs/semantics.md`, Temporal formulas), each with a run of the automaton over it.

`justice` are literals about a transition: the automaton leaves an accepting state; and for each
condition of `mazurka.ltl.fairness`, that the transition meets it.

**Theorem.**  A run that counts violates the formula if and only if there is an infinite path of the
circuit from its first state on which every literal of `justice` holds infinitely often.  (By the
theorems of `mazurka.ltl.automata`, and since the conditions are word for word those that a run
must meet infinitely often.)

A transition is one step, with nothing left out: a round of sweeps would hide the states inside it,
and a reduction the order of steps that the formula can tell.  Steps that are not known
(`mazurka.symbolic.circuit`) have no transition; whoever proves something must show that there are
none.  A step that fails has none either: faults are looked for first (`mazurka.temporal`).

For other tools this is what AIGER 1.9 calls a justice property: `constraint` as an invariant
constraint, `justice` as its set of literals.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.ir.native.layout import make_layout
from mazurka.ir.program import DEAD_ENDS, Program
from mazurka.ltl.automata import degeneralize, translate
from mazurka.ltl.claim import ClaimedProgram, add_claim
from mazurka.ltl.fairness import find_conditions
from mazurka.ltl.formulas import Formula, negation
from mazurka.search import Observer
from mazurka.symbolic.circuit import UNROLLING, Circuit, StepEvent
from mazurka.symbolic.environment import BINARY, StateBits
from mazurka.symbolic.graphs.graph import FALSE, Aig
from mazurka.symbolic.graphs.words import Words
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.interleavings.full import apply_steps, choose_mover
from mazurka.symbolic.outlook import StepOutlook, ThreadOutlook
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import UNROLLING as USUAL_UNROLLING
from mazurka.symbolic.steps import StepEncoder

PURPOSE = (
    "temporal formulas can be checked only where it does not: choose in a step before, or use"
    " --engine stateful"
)


@dataclass(frozen=True)
class FairRuns:
    """The runs that violate a formula: infinite paths with all of `justice` infinitely often."""

    circuit: Circuit
    justice: tuple[int, ...]
    claim: int
    """The number of the thread that is the automaton."""
    moving: int
    """A literal: another thread moves.  Where none does, none ever will."""


def encode_runs(
    program: Program,
    formula: Formula,
    *,
    fair: bool = False,
    counters: str = BINARY,
    unrolling: int = USUAL_UNROLLING,
    observer: Observer | None = None,
) -> FairRuns:
    """Encode the runs of a prepared program that violate a formula."""
    claimed = add_claim(program, degeneralize(translate(negation(formula))))
    graph = Aig(observer)
    bits = StateBits(make_layout(claimed.program), Words(graph), counters)
    return _Runs(StepEncoder(bits, unrolling=unrolling), claimed, program, fair=fair).encode()


class _Runs:
    """Builds the frame of one transition."""

    def __init__(
        self, encoder: StepEncoder, claimed: ClaimedProgram, program: Program, *, fair: bool
    ) -> None:
        self.encoder, self.graph, self.claimed = encoder, encoder.graph, claimed
        self.frame = Frame(encoder)
        self.conditions = find_conditions(program, fair=fair)
        self.acting = [n for n, thread in enumerate(program.threads) if not thread.observer]
        outlook = StepOutlook(encoder, self.frame.before, PURPOSE)
        self.abilities: dict[int, ThreadOutlook] = {
            thread: outlook.of_thread(thread, reads=False) for thread in self.acting
        }

    def encode(self) -> FairRuns:
        encoder, graph, frame, before = self.encoder, self.graph, self.frame, self.frame.before
        taken, moves = choose_mover(frame, self.acting)
        claim_steps = self._encode_claim()
        reads = graph.some(runs for runs, _ in claim_steps)
        stays = graph.every(each.acts ^ 1 for each in self.abilities.values())
        moves_or_stays = graph.some([stays, *(event.literal for event in moves)])
        valid = graph.both(reads, moves_or_stays)
        # A frame that is no transition changes nothing: whoever counts it loses nothing.
        taken = [(graph.both(runs, reads), record) for runs, record in taken]
        claim_steps = [(graph.both(runs, moves_or_stays), record) for runs, record in claim_steps]
        movers = {event.thread: graph.both(event.literal, reads) for event in moves}
        frame.events.append(StepEvent(valid, self.claimed.thread))
        frame.events += [StepEvent(literal, thread) for thread, literal in movers.items()]
        after = apply_steps(encoder, before, [*taken, *claim_steps])
        choices = [bit for word in encoder.choices.values() for bit in encoder.words.literals(word)]
        circuit = Circuit(
            program=self.claimed.program,
            graph=graph,
            bits=encoder.bits,
            latches=tuple(encoder.bits.latches),
            nexts=tuple(encoder.bits.encode(before, after)),
            inputs=(*frame.inputs, *choices),
            constraint=valid,
            bad={},
            unknown=frame.collect((UNROLLING, *map(str, sorted(DEAD_ENDS)))),
            ends={},
            events=tuple(frame.events),
            choices=dict(encoder.choices),
            idles=True,
        )
        moving = graph.some(movers.values())
        return FairRuns(circuit, self._find_justice(movers), self.claimed.thread, moving)

    def _encode_claim(self) -> list[tuple[int, StepRecord]]:
        """The automaton's steps, with where they can be taken."""
        claim, before = self.claimed.thread, self.frame.before
        found = []
        for start in self.encoder.starts(claim):
            record = self.encoder.encode(before, claim, start)
            found.append((self.graph.both(before.places[claim][start], record.moved), record))
        return found

    def _find_justice(self, movers: dict[int, int]) -> tuple[int, ...]:
        graph, places = self.graph, self.frame.before.places[self.claimed.thread]
        accepting = [places.get(each, FALSE) for each in sorted(self.claimed.accepting)]
        found = [graph.some(accepting)]
        for condition in self.conditions:
            ability = self.abilities[condition.thread]
            if condition.fair:
                found.append(graph.either(movers[condition.thread], ability.acts ^ 1))
            else:
                found.append(graph.either(ability.stopped ^ 1, ability.acts))
        return tuple(found)
