"""A bounded search and searches for a proof side by side: the first to decide wins.

Each solver runs in a process of its own, so the two need no threads here: the bounded search is
conducted as always (`mazurka.symbolic.bmc`), and while it waits for its solver, or has finished a
frame, the other solver is asked whether it has something to say.  What that is, `InvariantSearch`
judges as it does alone: an invariant is checked, a way to a violation is followed.

Where all cells are small, decision diagrams (`mazurka.symbolic.bdd`) look for all states in a third
process: with little data they are often the first, and with wide numbers they are of no use.  They
are given a part of the memory, and are left out where an invariant is to be written.  Where there
are fewer processors than searches, the one for an invariant begins when diagrams have had
`HEAD_START_SECONDS`, or have ended without an answer: what it takes, they would have to wait for.

All answers are answers about the program, so it does not matter who is first.  What the bounded
search alone cannot know (executions that are longer than it looks ahead) does not count once there
is a proof; what neither knows makes the answer inconclusive, as with each alone.

With `--deterministic` the search for an invariant begins where the bounded search has ended without
a decision, and there are no diagrams.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from mazurka.search import ExplainedPart, SearchOptions, Statistics
from mazurka.search.resources import processors
from mazurka.symbolic.bdd import DiagramSearch, Reaching, describe_pass
from mazurka.symbolic.bmc import CircuitSearch, FrameLoop, SearchSubject
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.explaining import explain_circuit
from mazurka.symbolic.options import INTERLEAVING, OF_STATES, has_diagrams
from mazurka.symbolic.pdr import (
    InvariantFile,
    InvariantSearch,
    ModelQuestion,
    describe_progress,
)
from mazurka.symbolic.reaching import Answer
from mazurka.symbolic.solving.diagrams import DiagramSolver
from mazurka.symbolic.solving.property_directed import Progress
from mazurka.symbolic.solving.reachability import ReachProgress
from mazurka.symbolic.solving.solver import PULSE_SECONDS, SatSolver, SolverFailure

BRIEF_SECONDS = 0.02
BURST_SECONDS = 0.2
"""For so long, or one answer more, the bounded search waits while this one goes on."""
MOST_BITS = 12
"""Cells with more bits are wide."""
MEMORY_PARTS = 4
"""Decision diagrams get one of so many parts of the memory."""
SEARCHES = 3
HEAD_START_SECONDS = 4.0
"""So much processor time decision diagrams get before a third search takes part of it."""


class Decided(Exception):  # noqa: N818 - it is control flow, not an error
    """The search for an invariant has come to an end with an answer."""


class PortfolioSearch(CircuitSearch):
    """A bounded search with searches for a proof beside it."""

    beside: ProofBeside | None = None
    """The search for an invariant while it runs."""
    diagrams: DiagramsBeside | None = None
    counts_all = False
    prover: InvariantSearch | None = None
    decided_by = "bmc"
    file: InvariantFile | None = None
    """Where invariants are to be written."""

    def search(self, circuit: Circuit, solver: SatSolver) -> None:
        with SatSolver(waiting=self.wait) as second:
            beside = ProofBeside(self, second)
            self.prover = beside.prover
            try:
                if not self.options.deterministic:
                    if self.file is None and suit_diagrams(circuit, self.subject):
                        self.diagrams = DiagramsBeside(self)
                    self.beside = beside
                    if self.diagrams is None or processors() >= SEARCHES:
                        beside.begin()
                FrameLoop(self, circuit, solver).search()
                if self.violation is None and self.limits:
                    beside.finish()
            except Decided:
                solver.kill()  # nobody waits for what it is doing
            finally:
                self.beside = None
                if beside.is_busy:
                    beside.end()
                if self.diagrams is not None:
                    self.diagrams.end()
        if beside.has_decided:
            self.accept(beside.prover, "pdr")
        elif self.diagrams is not None and self.diagrams.has_decided:
            self.accept(self.diagrams.search, "bdd")

    def wait(self, solver: SatSolver) -> None:
        super().wait(solver)
        if self.beside is None:
            return
        if self.diagrams is not None and self.diagrams.listen():
            raise Decided
        if self.diagrams is not None and self.diagrams.had_head_start:
            self.beside.begin_late()
        if self.beside.listen():
            raise Decided

    def solver_bytes(self, solver: SatSolver) -> int:
        others = self.beside.solvers if self.beside is not None else []
        known = {id(each): each for each in (solver, self.solver, *others) if each is not None}
        used = sum(each.resident_bytes() for each in known.values())
        return used + (self.diagrams.resident_bytes() if self.diagrams is not None else 0)

    def statistics(self) -> Statistics:
        found = super().statistics()
        others = {
            "pdr": self.prover,
            "bdd": None if self.diagrams is None else self.diagrams.search,
        }
        told = [f"{name} {each.doing}" for name, each in others.items() if each and each.doing]
        return replace(found, doing="  ".join([found.doing, *told]))

    def accept(self, prover: CircuitSearch, name: str) -> None:
        """Take over what another search has found."""
        self.decided_by = name
        self.violation, self.proof = prover.violation, prover.proof
        self.limits, self.stop_notes = prover.limits, prover.stop_notes
        if prover.violation is not None:
            self.depth = prover.depth

    def explain(self) -> Iterator[ExplainedPart]:
        yield from super().explain()
        if self.prover is not None:
            yield from self.prover.explain()

    def describe_effort(self) -> tuple[str, ...]:
        told = super().describe_effort()
        decided = self.violation is not None or not self.limits
        return (*told, f"{self.decided_by} has decided") if decided else told


def suit_diagrams(circuit: Circuit, subject: SearchSubject) -> bool:
    """Whether decision diagrams may be of use: all cells are small, and it is a question about
    single states."""
    small = all(slot.width <= MOST_BITS for slot in circuit.bits.layout.slots)
    return small and type(subject) is SearchSubject and has_diagrams()


class DiagramsBeside:
    """The search of all states, which is heard of when there is time."""

    def __init__(self, owner: PortfolioSearch) -> None:
        self.search = _BesideDiagrams(owner)
        circuit = self.search.circuit = self.search.encode()
        self.reach = Reaching(self.search, circuit)
        self.solver = DiagramSolver()
        self.has_decided = self.has_ended = False
        self.solver.begin(self.reach.problem, self.search.hear, self.reach.report)

    @property
    def had_head_start(self) -> bool:
        """Whether others need no longer wait for an answer."""
        return self.has_ended or self.solver.processor_seconds() >= HEAD_START_SECONDS

    def listen(self) -> bool:
        """Hear what there is to hear; whether it has come to an end with an answer."""
        if self.has_ended:
            return False
        try:
            self.solver.listen()
        except SolverFailure:  # most likely it had no memory left; the other searches go on
            self.has_ended = True
            return False
        if self.solver.is_over:
            self.has_ended = True
            if self.solver.found is not None:
                self.search.accept(self.reach, self.solver.found)
            self.has_decided = self.search.violation is not None or not self.search.limits
        return self.has_decided

    def resident_bytes(self) -> int:
        return 0 if self.has_ended else self.solver.resident_bytes()

    def end(self) -> None:
        """End the process: it may be in the middle of something."""
        self.solver.kill()
        self.has_ended = True


class _BesideDiagrams(DiagramSearch):
    """A search of all states that says nothing while it works, with a part of the memory."""

    def __init__(self, owner: PortfolioSearch) -> None:
        super().__init__(owner.program, find_options(owner), owner.observer, owner.subject)
        self.limit_bytes = owner.limit_bytes // MEMORY_PARTS

    def hear(self, progress: ReachProgress) -> None:
        self.nodes = max(self.nodes, progress.nodes)
        self.doing = describe_pass(progress)


def find_options(owner: PortfolioSearch) -> SearchOptions:
    """The options of a search for a proof: sweeps where the interleaving asked for has none."""
    options = owner.options
    if options.value(INTERLEAVING) in OF_STATES:
        return options
    rest = {name: value for name, value in options.tuning.items() if name != INTERLEAVING.name}
    return replace(options, tuning=rest)


class _BesideSearch(InvariantSearch):
    """A search for an invariant whose limits are those of both."""

    def __init__(self, owner: PortfolioSearch) -> None:
        super().__init__(owner.program, find_options(owner), owner.observer, owner.subject)
        self.owner, self.file = owner, owner.file

    def wait(self, solver: SatSolver) -> None:
        self.owner.wait(solver)

    def explain(self) -> Iterator[ExplainedPart]:
        if self.circuit is not None:
            title = "the circuit of the search for an invariant"
            yield explain_circuit(self.circuit, self.interleaving, title)


class ProofBeside:
    """The search for an invariant, which is heard of when there is time."""

    def __init__(self, owner: PortfolioSearch, solver: SatSolver) -> None:
        self.owner, self.solver = owner, solver
        self.prover = _BesideSearch(owner)
        self.has_begun = self.is_over = self.has_failed = False
        self.is_judging = False
        """Whether a question is being made or an answer judged: that waits for solvers, too, this
        one among them."""

    @property
    def has_decided(self) -> bool:
        answered = self.prover.violation is not None or not self.prover.limits
        return self.is_over and not self.has_failed and answered

    @property
    def is_busy(self) -> bool:
        """Whether the solver is in the middle of something."""
        return self.has_begun and not self.is_over

    @property
    def asked(self) -> SatSolver:
        """The solver that has been asked last."""
        question = self.question
        return question.solver if isinstance(question, ModelQuestion) else self.solver

    @property
    def solvers(self) -> list[SatSolver | None]:
        return [self.solver, self.prover.lemma_solver]

    def begin(self) -> None:
        """Encode the program, and hand it over."""
        self.is_judging = True
        try:
            circuit = self.prover.circuit = self.prover.encode()
            self.questions = self.prover.decide(circuit, self.solver)
            self.question = next(self.questions)
            self._ask()
            self.has_begun = True
        except SolverFailure:
            self.is_over = self.has_failed = True
        finally:
            self.is_judging = False

    def begin_late(self) -> None:
        """Begin while another search is waiting, unless that has been done."""
        if not (self.has_begun or self.is_judging or self.is_over):
            self.begin()

    def listen(self) -> bool:
        """Hear what there is to hear; whether it has come to an end with an answer."""
        if not self.has_begun or self.is_judging:
            return False
        until = time.perf_counter() + BURST_SECONDS
        while not self.is_over and self.asked.has_answered(self._patience()):
            self._hear()
            if time.perf_counter() > until:
                break
        return self.has_decided

    def _patience(self) -> float:
        """How long to wait for an answer: questions about lemmas are many and small."""
        return BRIEF_SECONDS if isinstance(self.question, ModelQuestion) else 0.0

    def finish(self) -> None:
        """Wait for the end."""
        if not self.has_begun:
            self.begin()
        while not self.is_over:
            if self.asked.has_answered(PULSE_SECONDS):
                self._hear()
            else:
                self.owner.wait(self.asked)

    def _hear(self) -> None:
        self.is_judging = True
        try:
            if isinstance(self.question, ModelQuestion):
                self._go_on(self.question.solver.hear_of_model())
                return
            found = self.solver.hear_of_proof(len(self.question.problem.inputs))
            if isinstance(found, Progress):
                self.prover.doing = describe_progress(found)
                self.solver.go_on()
            else:
                self._go_on(self.question.read(found))
        except SolverFailure:  # most likely it had no memory left; the other search goes on
            self.is_over = self.has_failed = True
        finally:
            self.is_judging = False

    def end(self) -> None:
        """Stop in the middle of something."""
        self.solver.kill()
        self.questions.close()

    def _go_on(self, answer: Answer | bool) -> None:
        try:
            self.question = self.questions.send(answer)
        except StopIteration:
            self.is_over = True
        else:
            self._ask()

    def _ask(self) -> None:
        if isinstance(self.question, ModelQuestion):
            self.question.solver.begin_solving(self.question.assumptions)
        elif self.question.answer is None:
            self.solver.begin_proof(self.question.problem)
        else:
            self._go_on(self.question.answer)
