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

What is bad includes the steps that are not known (`mazurka.symbolic.circuit`).  If the base meets
one, there is no proof.  Base and step of a proof are checked by another solver, on frames that are
made anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.errors import InternalError
from mazurka.symbolic.bmc import CircuitSearch, FrameLoop
from mazurka.symbolic.circuit import Circuit, Interleaving
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig, ClauseWriter
from mazurka.symbolic.invariants import OTHER_SOLVER, check_invariant, find_unused_codes
from mazurka.symbolic.pdr import find_ends
from mazurka.symbolic.solving.solver import SatSolver
from mazurka.symbolic.unrolling import Unroller


class InductionSearch(CircuitSearch):
    """A bounded search that may end with a proof."""

    sweeps = Interleaving.SWEEPS
    counters = BINARY
    step_solver: SatSolver | None = None

    def search(self, circuit: Circuit, solver: SatSolver) -> None:
        known = find_unused_codes(circuit, self.wait)
        with SatSolver(waiting=self.wait) as self.step_solver:
            step = StepCase(circuit, known, self.step_solver)
            _InductionLoop(self, circuit, solver, step).search()

    def solver_bytes(self, solver: SatSolver) -> int:
        known = {id(each): each for each in (solver, self.solver, self.step_solver) if each}
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
        if owner.limits or self.step.is_possible(many):
            return None
        check_induction(owner, self.circuit, self.step.known, many)
        owner.proof = f"induction over {many:,} {owner.unit}{'' if many == 1 else 's'}"
        return find_ends(owner, self.ends, self.step.known, self.solver)


class StepCase:
    """Transitions from any state that violate nothing, and a bad frame behind them."""

    def __init__(
        self, circuit: Circuit, known: Sequence[tuple[int, ...]], solver: SatSolver
    ) -> None:
        """`known`: an inductive invariant, of which no state of the transitions is outside."""
        self.circuit, self.known, self.solver = circuit, known, solver
        self.unroller = Unroller(circuit, anywhere=True)
        self.graph = self.unroller.graph
        self.writer = ClauseWriter(self.graph)
        self.states: list[list[int]] = []
        self.bad = FALSE
        """That the last frame is bad."""
        self.excluded = False
        """Whether there are no such transitions at all."""
        state = self.unroller.state
        for cube in known:
            literals = (state[abs(each) - 1] ^ (each < 0) for each in cube)
            self._require(self.graph.every(literals) ^ 1)

    def is_possible(self, length: int) -> bool:
        """Whether a bad frame can lie behind so many transitions that are not bad."""
        while len(self.unroller.frames) <= length:
            self._add_frame()
        return not self.excluded and self.bad != FALSE and self.solver.solve(self._assume(self.bad))

    def _add_frame(self) -> None:
        if self.unroller.frames:
            self._require(self.bad ^ 1)
            self._require(self.unroller.frames[-1].literal(self.circuit.constraint))
        state = list(self.unroller.state)
        for earlier in self.states:
            self._require(differ(self.graph, earlier, state))
        self.states.append(state)
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


def check_induction(
    owner: CircuitSearch, circuit: Circuit, known: Sequence[tuple[int, ...]], length: int
) -> None:
    """Raise an internal error unless another solver finds neither a base nor a step."""
    check_invariant(circuit, known, FALSE, owner.wait)
    with SatSolver(OTHER_SOLVER, owner.wait) as solver:
        if StepCase(circuit, known, solver).is_possible(length):
            raise InternalError(f"what was found is no induction over {length} transitions")
    unroller = Unroller(circuit)
    graph, before, found = unroller.graph, TRUE, []
    for _ in range(length):
        frame = unroller.add_frame()
        found.append(graph.both(before, graph.some(map(frame.literal, find_bad(circuit)))))
        before = graph.both(before, frame.literal(circuit.constraint))
    bad = graph.some(found)
    if bad == FALSE:
        return
    writer = ClauseWriter(graph)
    with SatSolver(OTHER_SOLVER, owner.wait) as solver:
        if bad != TRUE:
            solver.add(writer.define([bad]))
        if bad == TRUE or solver.solve([writer.literal(bad)]):
            raise InternalError("what was found is no induction: there is a violation before")
