"""k-induction: a bounded search that also asks whether it has seen enough.

Sheeran, Singh, Stålmarck, *Checking Safety Properties Using Induction and a SAT-Solver* (FMCAD
2000).  After k frames without a violation (the *base*, `mazurka.symbolic.bmc`), the solver is asked
for k transitions in a row, from any state at all, that violate nothing, and a frame behind them
that does (the *step*).  If there are none, nothing is ever violated.

**Why.**  Take a shortest run to a bad frame, with n frames before that one.  By the base n >= k.
The frames before it are transitions and not bad, and no two of its states are equal, since what
lies between them could be left out.  So its last k + 1 frames are what the step asks for, also
where that asks for states that are pairwise different, and for states all of whose latches are
codes of values (`find_unused_codes`, an invariant that is checked, too).

A transition is a single step of a thread.  Rounds of many steps would find violations earlier, as
`bmc` does; but from states that no run reaches, a round leads to many more of the like: a proof
takes about as many rounds as steps, and each question longer.

That states are pairwise different is required only of those that are the same in a model of the
solver (Eén, Sörensson, *Temporal Induction by Incremental SAT Solving*, BMC 2003): to require it of
all pairs would be most of the problem.

**Auxiliary invariants** (Beyer, Dangl, Wendler, *Boosting k-Induction with Continuously-Refined
Invariants*, CAV 2015).  States that no run reaches go round for ever: a thread is in a section
whose lock another one holds.  So after `PLAIN_STEPS` steps in vain invariants are guessed about
places and small values (`mazurka.symbolic.lemmas`), and what is inductive of them is required of
the states of the step as well.  It need not exclude what is bad: wide data are left to the
induction, which needs no lemma about what a thread has just read.

What is bad includes the steps that are not known (`mazurka.symbolic.circuit`).  If the base meets
one, there is no proof.  Base and step of a proof are checked by another solver, on frames that are
made anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from mazurka.errors import InternalError
from mazurka.symbolic.bmc import CircuitSearch, FrameLoop
from mazurka.symbolic.circuit import Circuit, Interleaving
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig, ClauseWriter
from mazurka.symbolic.invariants import OTHER_SOLVER, check_invariant, find_unused_codes
from mazurka.symbolic.lemmas.mining import Lemma
from mazurka.symbolic.lemmas.proving import find_control_invariant
from mazurka.symbolic.pdr import find_ends
from mazurka.symbolic.solving.solver import SatSolver
from mazurka.symbolic.unrolling import Unroller

PLAIN_STEPS = 2
"""So many steps are tried without auxiliary invariants."""


class InductionSearch(CircuitSearch):
    """A bounded search that may end with a proof."""

    sweeps = Interleaving.FULL
    counters = BINARY
    step_solver: SatSolver | None = None

    def search(self, circuit: Circuit, solver: SatSolver) -> None:
        known = find_unused_codes(circuit, self.wait)
        with SatSolver(waiting=self.wait) as self.step_solver:
            step = StepCase(circuit, known, self.step_solver)
            _InductionLoop(self, circuit, solver, step).search()

    @property
    def solvers(self) -> list[SatSolver]:
        return [each for each in (self.solver, self.step_solver) if each is not None]

    def solver_bytes(self, solver: SatSolver) -> int:
        known = {id(each): each for each in (solver, *self.solvers)}
        return sum(each.resident_bytes() for each in known.values())


class _InductionLoop(FrameLoop):
    """The loop over the frames of the base, with a step for each."""

    def __init__(
        self, owner: CircuitSearch, circuit: Circuit, solver: SatSolver, step: StepCase
    ) -> None:
        super().__init__(owner, circuit, solver)
        self.step = step

    def prove_rest(self) -> tuple[str, ...] | None:
        owner, many = self.owner, len(self.unroller.frames)
        if owner.limits:
            return None
        if many == PLAIN_STEPS + 1 and not owner.subject.plain_steps:
            self.strengthen()
        if self.step.is_possible(many):
            return None
        check_induction(owner, self.step, many)
        owner.proof = f"induction over {many:,} {owner.unit}{'' if many == 1 else 's'}"
        return find_ends(owner, self.ends, self.step.known, self.solver)

    def strengthen(self) -> None:
        """Look for auxiliary invariants."""
        began = time.perf_counter()
        step = self.step
        try:
            step.strengthen(find_control_invariant(step.circuit, step.known, self.owner.wait))
        finally:
            self.owner.encoding_seconds += time.perf_counter() - began


class StepCase:
    """Transitions from any state that violate nothing, and a bad frame behind them."""

    def __init__(
        self, circuit: Circuit, known: Sequence[tuple[int, ...]], solver: SatSolver
    ) -> None:
        """`known`: an inductive invariant, of which no state of the transitions is outside."""
        self.circuit, self.known, self.solver = circuit, known, solver
        self.lemmas: list[Lemma] = []
        """Clauses that are inductive together with `known`."""
        self.unroller = Unroller(circuit, anywhere=True)
        self.graph = self.unroller.graph
        self.writer = ClauseWriter(self.graph)
        self.states: list[list[int]] = []
        self.differing: list[tuple[int, int]] = []
        """The pairs of states that are required to differ."""
        self.bad = FALSE
        """That the last frame is bad."""
        self.excluded = False
        """Whether there are no such transitions at all."""
        state = self.unroller.state
        for cube in known:
            literals = (state[abs(each) - 1] ^ (each < 0) for each in cube)
            self._require(self.graph.every(literals) ^ 1)

    def strengthen(self, lemmas: Sequence[Lemma]) -> None:
        """Ask only for states in which these lemmas hold, an inductive invariant."""
        self.lemmas += lemmas
        self.roots = sorted({literal & ~1 for each in self.lemmas for literal in each.literals})
        self.cone = self.circuit.graph.mark_cone(self.roots or [TRUE])
        for state in self.states:
            self._require_lemmas(state)

    def _require_lemmas(self, state: Sequence[int]) -> None:
        """Require the lemmas of a state, given by its latches."""
        if not self.lemmas:
            return
        graph = self.circuit.graph
        image = np.zeros(graph.nodes, np.int32)
        image[[latch.literal >> 1 for latch in self.circuit.latches]] = state
        self.graph.copy_from(graph.fanins.copy(), self.cone, image)
        for lemma in self.lemmas:
            said = [int(image[literal >> 1]) ^ (literal & 1) for literal in lemma.literals]
            self._require(self.graph.some(said))

    def is_possible(self, length: int) -> bool:
        """Whether a bad frame can lie behind so many transitions that are not bad."""
        while len(self.unroller.frames) <= length:
            self._add_frame()
        while not self.excluded and self.bad != FALSE:
            if not self.solver.solve(self._assume(self.bad)):
                return False
            same = self._find_same()
            if not same:
                return True
            self.tell_apart(same)
        return False

    def tell_apart(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Require that states, two by two, are not the same."""
        for earlier, later in pairs:
            self.differing.append((earlier, later))
            self._require(differ(self.graph, self.states[earlier], self.states[later]))

    def _find_same(self) -> list[tuple[int, int]]:
        """The pairs of states that are the same in the model.  Only these are required to differ:
        all pairs would be most of the problem, and few of them matter."""
        known = sorted({bit & ~1 for state in self.states for bit in state if bit > TRUE})
        named = [bit for bit in known if self.writer.has(bit)]
        values = self.solver.values([self.writer.literal(bit) for bit in named])
        truth = {FALSE: 0, TRUE: 1} | dict(zip(named, values, strict=True))
        coded = [tuple(truth.get(b & ~1, 0) ^ (b & 1) for b in state) for state in self.states]
        places: dict[tuple[int, ...], int] = {}
        found = []
        for place, code in enumerate(coded):
            if code in places:
                found.append((places[code], place))
            places[code] = place
        return found

    def _add_frame(self) -> None:
        if self.unroller.frames:
            self._require(self.bad ^ 1)
            self._require(self.unroller.frames[-1].literal(self.circuit.constraint))
        state = list(self.unroller.state)
        self.states.append(state)
        self._require_lemmas(state)
        frame = self.unroller.add_frame()
        self.bad = self.graph.some(map(frame.literal, find_bad(self.circuit)))

    def _require(self, literal: int) -> None:
        if literal == FALSE:
            self.excluded = True
        elif literal != TRUE:
            self.solver.add_clause(self._assume(literal))

    def _assume(self, literal: int) -> list[int]:
        if literal == TRUE:
            return []
        self.solver.add(self.writer.define([literal]))
        return [self.writer.literal(literal)]


def find_bad(circuit: Circuit) -> list[int]:
    """What must not hold in any frame, steps that are not known included."""
    return [*circuit.bad.values(), *circuit.unknown.values()]


def differ(graph: Aig, first: list[int], second: list[int]) -> int:
    """That two states are not the same."""
    return graph.some(graph.differ(a, b) for a, b in zip(first, second, strict=True))


def check_induction(owner: CircuitSearch, found: StepCase, length: int) -> None:
    """Raise an internal error unless another solver finds neither a base nor a step."""
    circuit, said = found.circuit, [each.literals for each in found.lemmas]
    check_invariant(circuit, found.known, FALSE, owner.wait, said)
    with SatSolver(OTHER_SOLVER, owner.wait) as solver:
        step = StepCase(circuit, found.known, solver)
        step.strengthen(found.lemmas)
        if step.is_possible(length):
            raise InternalError(f"what was found is no induction over {length} transitions")
    unroller = Unroller(circuit)
    graph, before, failures = unroller.graph, TRUE, list[int]()
    for _ in range(length):
        frame = unroller.add_frame()
        failures.append(graph.both(before, graph.some(map(frame.literal, find_bad(circuit)))))
        before = graph.both(before, frame.literal(circuit.constraint))
    bad = graph.some(failures)
    if bad == FALSE:
        return
    writer = ClauseWriter(graph)
    with SatSolver(OTHER_SOLVER, owner.wait) as solver:
        if bad != TRUE:
            solver.add(writer.define([bad]))
        if bad == TRUE or solver.solve([writer.literal(bad)]):
            raise InternalError("what was found is no induction: there is a violation before")
