"""Prove by lemmas: the part of some candidates that is inductive and excludes what is bad.

Flanagan, Leino, *Houdini, an Annotation Assistant for ESC/Java* (FME 2001) drops candidates as long
as some step leads from a state in which all hold to one in which some do not.  What belongs to an
inductive part is never dropped: that part holds before the step, so it holds after it.  The rest is
the largest inductive part.

*Deviations.*  Candidates are many, and few of them matter.  So they are asked about only where
something depends on them.  A *target* is what is bad, or a candidate that is violated after a step.
If a target is impossible from all states in which the candidates hold, the solver names those that
it needed (its core), and these are the next targets.  If it is possible, the candidates that the
step violates are dropped, and whatever needed them is asked about again.  From each state that is
found walks are looked at, with other inputs: the largest inductive part holds in all of their
states, so each of them counts in the same way.
One target is asked about at a time: where several are, the core names more than any of them needs.

**What is found is a proof.**  When no target is left, the needed candidates hold at first; each is
kept by every step from states in which the needed ones hold; and these exclude what is bad.  If
what is bad is possible although all candidates that are left hold, there is no proof: the largest
inductive part is among them.  Nothing of this is trusted: `mazurka.symbolic.invariants` checks it
with another solver.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mazurka.deadline import check_time
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import FALSE, TRUE, ClauseWriter, Lanes
from mazurka.symbolic.lemmas.mining import Lemma, guess_control_lemmas
from mazurka.symbolic.lemmas.sampling import (
    SEED,
    Truths,
    draw_inputs,
    evaluate,
    evaluate_words,
    sample_states,
)
from mazurka.symbolic.solving.solver import SatSolver

PHASE = "proving lemmas"
LEMMAS_A_LOOK = 1024
"""After so many lemmas the time limit is looked at while they are written as clauses."""
LEMMA_SOLVER = "minisat22"
"""It answers thousands of small questions with many assumptions faster than the usual one."""
INPUT_WORDS = 2
"""So many words of 64 walks begin in each state that is found."""
WALK_FRAMES = 32
"""How long walks are: on Daisy 29 questions are enough so, where single frames need 288."""
NOWHERE, ONCE, EVERYWHERE = np.uint64(0), np.uint64(1), np.uint64((1 << 64) - 1)
"""Words of cases."""
NOTHING: frozenset[int] = frozenset()
BAD = -1
"""The target that is no candidate."""

Questions: TypeAlias = Generator[list[int], bool, list[Lemma] | None]
"""Asks the solver for a model of assumptions, is told whether there is one, and returns lemmas."""


def prove_by_lemmas(
    circuit: Circuit,
    lemmas: Sequence[Lemma],
    known: Iterable[Sequence[int]],
    bad: int,
    solver: SatSolver,
) -> Questions:
    """Find lemmas that are inductive, given that no state is in one of the `known` cubes, and
    exclude `bad`; None if there are none.  Whoever runs this asks the solver what is yielded."""
    kept = hold_at_first(circuit, lemmas)
    return LemmaProof(circuit, kept, known, bad, solver).find()


def find_control_invariant(
    circuit: Circuit,
    known: Iterable[Sequence[int]],
    waiting: Callable[[SatSolver], None] | None = None,
) -> list[Lemma]:
    """Guess what always holds of places and small values; return what is inductive together."""
    kept = hold_at_first(circuit, guess_control_lemmas(circuit, sample_states(circuit)))
    with SatSolver(LEMMA_SOLVER, waiting) as solver:
        return LemmaProof(circuit, kept, known, FALSE, solver).find_inductive()


def hold_at_first(circuit: Circuit, lemmas: Sequence[Lemma]) -> list[Lemma]:
    """Those that hold in the first state."""
    literals = sorted({each for lemma in lemmas for each in lemma.literals})
    first = np.array([[bool(latch.initial)] for latch in circuit.latches])
    rows = [latch.literal >> 1 for latch in circuit.latches]
    values = evaluate(circuit, rows, first, literals)[:, 0]
    true = {literal for literal, value in zip(literals, values, strict=True) if value}
    return [lemma for lemma in lemmas if not true.isdisjoint(lemma.literals)]


class Primed:
    """Literals about the state, said of the state after a frame."""

    def __init__(self, circuit: Circuit, literals: Iterable[int]) -> None:
        nodes = sorted({literal & ~1 for literal in literals})
        taken = {
            latch.literal: after
            for latch, after in zip(circuit.latches, circuit.nexts, strict=True)
        }
        found = circuit.graph.substitute(nodes, taken) if nodes else []
        self._of = dict(zip(nodes, found, strict=True))

    def __call__(self, literal: int) -> int:
        return self._of[literal & ~1] ^ (literal & 1)


class ClauseTable(NamedTuple):
    """Candidates of the same length: their numbers, and a row of positions for each."""

    numbers: NDArray[np.int64]
    places: NDArray[np.int64]

    def keep(self, chosen: Truths) -> ClauseTable:
        return ClauseTable(self.numbers[chosen], self.places[chosen])


class LemmaProof:
    """One search for a proof."""

    def __init__(
        self,
        circuit: Circuit,
        lemmas: Sequence[Lemma],
        known: Iterable[Sequence[int]],
        bad: int,
        solver: SatSolver,
    ) -> None:
        self.circuit, self.solver, self.bad = circuit, solver, bad
        self.lemmas = list(lemmas)
        self.literals = sorted({each for lemma in lemmas for each in lemma.literals})
        primed = Primed(circuit, self.literals)
        self.primed = [primed(each) for each in self.literals]
        self.tables = self._tabulate()
        self.alive = np.ones(len(self.lemmas), np.bool_)
        self.reasons: dict[int, frozenset[int]] = {}
        """By target that is impossible the candidates that make it so."""
        self.needed: set[int] = set()
        """What the proof of `BAD` needs so far, in turn."""
        self.rng, self.turn = np.random.default_rng(SEED), 0
        self.writer = ClauseWriter(circuit.graph)
        state = [latch.literal for latch in circuit.latches]
        roots = [*self.literals, *self.primed, *state, *circuit.inputs, bad]
        solver.add(self.writer.define([each for each in roots if each > TRUE]))
        self._load(known, primed)

    def _tabulate(self) -> list[ClauseTable]:
        """The candidates by length, with the positions of their literals in `literals`."""
        places = {literal: place for place, literal in enumerate(self.literals)}
        lengths: dict[int, list[int]] = {}
        for number, lemma in enumerate(self.lemmas):
            lengths.setdefault(len(lemma.literals), []).append(number)
        return [
            ClauseTable(
                np.array(numbers, np.int64),
                np.array(
                    [[places[each] for each in self.lemmas[n].literals] for n in numbers], np.int64
                ),
            )
            for numbers in lengths.values()
        ]

    def _load(self, known: Iterable[Sequence[int]], primed: Primed) -> None:
        self.true = self.writer.new_variable()
        clauses = [self.true, 0]
        latches = self.circuit.latches
        for cube in known:
            clauses += [-self._name(latches[abs(e) - 1].literal ^ (e < 0)) for e in cube] + [0]
        self.assumed = [self.writer.new_variable() for _ in self.lemmas]
        self.violated = [self.writer.new_variable() for _ in self.lemmas]
        self.number = {variable: place for place, variable in enumerate(self.assumed)}
        for place, lemma in enumerate(self.lemmas):
            if place % LEMMAS_A_LOOK == 0:
                check_time(PHASE)
            clauses += [-self.assumed[place], *map(self._name, lemma.literals), 0]
            for each in lemma.literals:
                clauses += [-self.violated[place], -self._name(primed(each)), 0]
        self.solver.add(np.array(clauses, np.int32))
        self.every = list(self.assumed)
        """What is assumed where all candidates that are left are to hold."""

    def _name(self, literal: int) -> int:
        if literal in (FALSE, TRUE):
            return self.true if literal else -self.true
        return self.writer.literal(literal)

    # --- all that is inductive ----------------------------------------------------------------

    def find_inductive(self) -> list[Lemma]:
        """The largest inductive part of the candidates, whether or not it excludes what is bad."""
        while True:
            some = self.writer.new_variable()
            alive = np.flatnonzero(self.alive).tolist()
            self.solver.add_clause([-some, *(self.violated[each] for each in alive)])
            if not self.solver.solve([*self.every, some]):
                return [self.lemmas[each] for each in alive]
            self._drop()

    # --- targets ------------------------------------------------------------------------------

    def find(self) -> Questions:
        """The lemmas that are needed; None if those that hold do not exclude what is bad."""
        waiting = [BAD]
        while waiting:
            target = waiting.pop()
            if target in self.reasons or (target != BAD and not self.alive[target]):
                continue
            if (yield from self._is_possible(target)):
                if target == BAD:
                    return None
                waiting += self._drop()
                continue
            core = self.solver.core()
            needed = frozenset(self.number[each] for each in core if each in self.number)
            self.reasons[target] = needed
            self.needed |= needed
            waiting += [each for each in needed if each not in self.reasons]
        return [self.lemmas[each] for each in sorted(self._collect())]

    def _is_possible(self, target: int) -> Generator[list[int], bool, bool]:
        """Whether a target is possible: first from states in which that holds which is needed
        anyway, then from those in which all candidates hold."""
        wanted = self._name(self.bad) if target == BAD else self.violated[target]
        needed = self.needed | ({target} if target != BAD else set())
        some = [self.assumed[each] for each in sorted(needed)]
        if not (yield [*some, wanted]):
            return False
        return len(some) == len(self.every) or (yield [*self.every, wanted])

    def _collect(self) -> set[int]:
        """What the reasons for `BAD` lead to, in turn."""
        found: set[int] = set()
        waiting = [BAD]
        while waiting:
            new = self.reasons.get(waiting.pop(), NOTHING) - found
            waiting += new
            found |= new
        return found

    def _drop(self) -> list[int]:
        """Drop what walks from the model's state violate; returns what depended on it."""
        self.tables = [table.keep(self.alive[table.numbers]) for table in self.tables]
        dropped: set[int] = set()
        for after in self._walk_from_model():
            for table in self.tables:
                held = np.bitwise_or.reduce(after[table.places], axis=1)
                dropped.update(table.numbers[(held != EVERYWHERE).any(axis=1)].tolist())
        assert dropped, "the solver's step violates nothing"
        self.alive[list(dropped)] = False
        self.every = [self.assumed[each] for each in np.flatnonzero(self.alive).tolist()]
        again = [t for t, needed in self.reasons.items() if not needed.isdisjoint(dropped)]
        for target in again:
            del self.reasons[target]
        self.needed = self._collect() - dropped
        return again

    def _walk_from_model(self) -> Iterator[Lanes]:
        """What holds after each frame of some walks: the first frame of the first one has the
        inputs of the model, all others any; a row a literal."""
        circuit, many = self.circuit, len(self.circuit.inputs)
        state = [latch.literal for latch in circuit.latches]
        leaves = [leaf >> 1 for leaf in (*state, *circuit.inputs)]
        told = self.solver.values([self._name(leaf) for leaf in (*state, *circuit.inputs)])
        values = np.array(told, np.bool_)
        bits = np.where(values, EVERYWHERE, NOWHERE)[:, None].repeat(INPUT_WORDS, axis=1)
        for number in range(WALK_FRAMES):
            self.turn += 1
            drawn = draw_inputs(self.rng, (many, INPUT_WORDS), self.turn)
            if number == 0:
                first = drawn[:, 0]
                drawn[:, 0] = np.where(values[len(state) :], first | ONCE, first & ~ONCE)
            bits[len(state) :] = drawn
            wanted = [*self.primed, *circuit.nexts]
            found = evaluate_words(circuit.graph, leaves, bits, wanted)
            yield found[: len(self.primed)]
            bits[: len(state)] = found[len(self.primed) :]
