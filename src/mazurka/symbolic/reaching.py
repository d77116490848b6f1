"""Ask whether a literal of a circuit can hold in a run: property-directed reachability decides.

The circuit's `constraint` is left out: a frame in which it does not hold counts as a transition,
too.  That only adds transitions, so an invariant holds of all that the circuit's transitions lead
to; and a way that is found is followed on the interpreter by whoever asks
(`mazurka.symbolic.schedules`).  Only circuits are taken in which such a frame changes nothing
(`Circuit.idles`), so nothing is lost.

Latches on which neither the literal nor, in turn, any latch depends that it depends on are left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import FALSE, TRUE, ClauseWriter
from mazurka.symbolic.invariants import Cubes
from mazurka.symbolic.solving.property_directed import (
    Problem,
    Progress,
    Proved,
    Reached,
    Undecided,
)
from mazurka.symbolic.solving.solver import SatSolver


@dataclass(frozen=True)
class ReachingInputs:
    """The inputs of frame after frame; in the last one the literal holds."""

    frames: list[list[int]]


@dataclass(frozen=True)
class ExcludingInvariant:
    """An inductive invariant that excludes the literal: no state is in one of the cubes."""

    cubes: Cubes


Answer: TypeAlias = ReachingInputs | ExcludingInvariant | Undecided


class WayQuestion:
    """Whether there is a way on which a literal comes to hold, for a solver to decide."""

    def __init__(
        self,
        circuit: Circuit,
        literal: int,
        known: Iterable[tuple[int, ...]],
        most_queries: int = 0,
    ) -> None:
        """The cubes that are `known` are inductive by themselves, and have no negative literals.

        (So those in which all latches matter are inductive without the others: the rest can be kept
        off by latches that do not matter.)
        """
        assert circuit.idles, "frames that do not count change something"
        self.circuit = circuit
        self.answer: Answer | None = None
        """The answer, where no solver is needed."""
        if literal == FALSE:
            self.answer = ExcludingInvariant(())
        elif literal == TRUE:
            self.answer = ReachingInputs([[0] * len(circuit.inputs)])
        if self.answer is not None:
            return
        self.latches = find_influences(circuit, literal)
        roots = [literal, *(circuit.nexts[each] for each in self.latches)]
        self.inputs = sorted(find_inputs(circuit, roots))
        kept = set(self.latches)
        self.given = [cube for cube in known if all(each - 1 in kept for each in cube)]
        problem = write_problem(circuit, literal, self.latches, self.inputs, self.given)
        self.problem = problem._replace(most_queries=most_queries)

    def read(self, answer: Reached | Proved | Undecided) -> Answer:
        """What the solver's answer says about the circuit."""
        if isinstance(answer, Undecided):
            return answer
        if isinstance(answer, Reached):
            frames = []
            for values in answer.frames:
                chosen = dict(zip(self.inputs, values, strict=True))
                frames.append([chosen.get(place, 0) for place in range(len(self.circuit.inputs))])
            return ReachingInputs(frames)
        cubes = [
            tuple((self.latches[abs(each) - 1] + 1) * (1 if each > 0 else -1) for each in cube)
            for cube in answer.cubes
        ]
        return ExcludingInvariant((*self.given, *cubes))


def find_way(question: WayQuestion, solver: SatSolver, tell: Callable[[Progress], None]) -> Answer:
    """A way on which the literal comes to hold, or an inductive invariant that excludes it."""
    if question.answer is not None:
        return question.answer
    return question.read(ask(solver, question.problem, tell))


def ask(
    solver: SatSolver, problem: Problem, tell: Callable[[Progress], None]
) -> Reached | Proved | Undecided:
    """Let the solver's process search, where it can be ended."""
    return solver.prove(problem, tell)


def find_influences(circuit: Circuit, literal: int) -> list[int]:
    """The positions of the latches on which a literal depends, now or in later states."""
    graph = circuit.graph
    places = {latch.literal: place for place, latch in enumerate(circuit.latches)}
    found: set[int] = set()
    roots = [literal]
    while True:
        support = {places[leaf] for leaf in graph.find_support(roots) if leaf in places}
        if support <= found:
            return sorted(found)
        found |= support
        roots = [circuit.nexts[place] for place in found]


def find_inputs(circuit: Circuit, roots: list[int]) -> set[int]:
    """The positions of the inputs on which literals depend."""
    support = set(circuit.graph.find_support(roots))
    return {place for place, literal in enumerate(circuit.inputs) if literal in support}


def write_problem(
    circuit: Circuit, bad: int, latches: list[int], inputs: list[int], known: list[tuple[int, ...]]
) -> Problem:
    """The circuit, as far as it matters to `bad`, in clauses."""
    writer = ClauseWriter(circuit.graph)
    state = [circuit.latches[place].literal for place in latches]
    nexts = [circuit.nexts[place] for place in latches]
    free = [circuit.inputs[place] for place in inputs]
    roots = [bad, *state, *free, *(each for each in nexts if each > TRUE)]
    clauses = writer.define(roots).tolist()
    true = writer.new_variable()
    clauses += [true, 0]

    def name(literal: int) -> int:
        if literal <= TRUE:
            return true if literal else -true
        return writer.literal(literal)

    for cube in known:
        for each in cube:
            variable = name(circuit.latches[abs(each) - 1].literal)
            clauses.append(-variable if each > 0 else variable)
        clauses.append(0)
    return Problem(
        bad=name(bad),
        state=list(map(name, state)),
        first=[circuit.latches[place].initial for place in latches],
        nexts=list(map(name, nexts)),
        inputs=list(map(name, free)),
        clauses=clauses,
    )
