"""Proofs by inductive invariants: property-directed reachability on a circuit.

`mazurka.symbolic.solving.property_directed` has the algorithm, which runs in the solver's process.
Here the circuit is handed to it, and nothing that comes back is trusted:

- an invariant is checked by another solver (`mazurka.symbolic.invariants`, with the argument);
- a way to a violation is followed on the interpreter.

What is bad for the proof is every violation, and every step that is not known
(`mazurka.symbolic.circuit`).  If such a step is reachable, and is no violation itself, the answer
is inconclusive, and the search goes on without it: what else is found is still real.

**Two ways.**  Clauses over single bits do not say much about wide numbers, and what many small
variables have to do with each other takes many of them.  So after `FIRST_QUERIES` questions
invariants are guessed in terms of the program's text (`mazurka.symbolic.lemmas`), and what is
inductive of them may be a proof.  If not, property-directed reachability goes on without an end.
Lemmas are about single steps (`Interleaving.FULL`), whatever the interleaving: their questions are
easier, and what every step keeps holds after every round.

**Reduced schedulers.**  With `partial-order` and `transactions` the transitions are those that the
scheduler allows, and the invariant is one of the states that these lead to.  It need not hold in
all reachable states, but it excludes every violation: if any execution from the first state shows
one, then so does an execution that the scheduler allows (`mazurka.symbolic.interleavings.stubborn`;
that proof is about all finite executions, of any length).  Frames that the scheduler does not allow
change nothing (`mazurka.symbolic.encoding.let_idle`).

Sweeps are the plain ones here, not the earliest: these remember more than the state, as `peephole`
does, and invariants speak of the state.  Program counters are held in binary, which needs fewer
clauses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mazurka.deadline import TimeLimitError, check_time
from mazurka.errors import OptionError
from mazurka.symbolic.bmc import PHASE, CircuitSearch, LimitReached
from mazurka.symbolic.circuit import OF_STATES, REDUCED, Circuit, Interleaving
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.ends import Ends
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.invariants import check_invariant, describe_invariant, find_unused_codes
from mazurka.symbolic.lemmas.mining import Lemma, guess_lemmas
from mazurka.symbolic.lemmas.proving import LEMMA_SOLVER, Questions, prove_by_lemmas
from mazurka.symbolic.lemmas.sampling import sample_states
from mazurka.symbolic.options import UNROLLED
from mazurka.symbolic.reaching import (
    Answer,
    ExcludingInvariant,
    ReachingInputs,
    WayQuestion,
    find_way,
)
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.solving.property_directed import Progress
from mazurka.symbolic.solving.solver import SatSolver, SolverFailure

FIRST_QUERIES = 1500
"""After so many questions lemmas are tried."""


class ModelQuestion(NamedTuple):
    """Whether a solver finds a model of assumptions."""

    solver: SatSolver
    assumptions: list[int]


Question: TypeAlias = WayQuestion | ModelQuestion
Deciding: TypeAlias = Generator[Question, Answer | bool, None]


class InvariantSearch(CircuitSearch):
    """A search for an inductive invariant, or for a violation."""

    sweeps = Interleaving.SWEEPS
    counters = BINARY
    counts_all = False
    idling = True
    queries = 0
    file: InvariantFile | None = None
    """Where invariants are to be written."""
    lemma_solver: SatSolver | None = None

    def search(self, circuit: Circuit, solver: SatSolver) -> None:
        questions = self.decide(circuit, solver)
        question = next(questions)
        while True:
            answer: Answer | bool
            if isinstance(question, ModelQuestion):
                answer = question.solver.solve(question.assumptions)
            else:
                answer = find_way(question, solver, partial(self.hear, solver))
            try:
                question = questions.send(answer)
            except StopIteration:
                return

    def decide(self, circuit: Circuit, solver: SatSolver) -> Deciding:
        """Ask questions until the answers decide; what is found is entered here.

        The solver is for notes, once there is a proof."""
        self.doing = describe_progress(Progress(0, 0, 0))
        known = find_unused_codes(circuit, self.wait)
        unknown = dict(circuit.unknown)
        most_queries = FIRST_QUERIES
        while True:
            bad = circuit.graph.some([*circuit.bad.values(), *unknown.values()])
            answer = yield WayQuestion(circuit, bad, known, most_queries)
            if isinstance(answer, ExcludingInvariant):
                check_invariant(circuit, answer.cubes, bad, self.wait)
                cubes, scheduler = answer.cubes, self.scheduler
                tell = partial(describe_invariant, circuit, cubes, scheduler=scheduler)
                self._accept(len(cubes), tell, scheduler)
                break
            if not isinstance(answer, ReachingInputs):
                most_queries = 0
                if (yield from self._decide_by_lemmas(circuit, unknown)):
                    break
                continue
            names = {**circuit.bad, **unknown}
            kind, path, step = ScheduleReader(circuit).read(answer.frames, names)
            self.depth = len(answer.frames) - (kind in OF_STATES)
            if kind in circuit.bad:
                self.violation = self.subject.judge(circuit, answer.frames, kind, path)
                return
            assert step is not None
            del unknown[kind]
            if self.examine_unknown(path, step):
                return
        self.stop_notes = find_ends(self, Ends(circuit), known, solver)

    def _decide_by_lemmas(
        self, circuit: Circuit, unknown: Collection[str]
    ) -> Generator[Question, Answer | bool, bool]:
        """Look for lemmas that exclude what is bad, steps of the kinds `unknown` included; whether
        there are some."""
        if self.subject.plain_steps:
            return False  # what is bad is not a matter of the program's own state
        began = time.perf_counter()
        steps = encode(
            self.program,
            Interleaving.FULL,
            properties=self.options.properties,
            counters=self.counters,
            unrolling=self.options.value(UNROLLED),
            observer=self.observer,
        )
        reached = set(circuit.unknown) - set(unknown)
        rest = [literal for kind, literal in steps.unknown.items() if kind not in reached]
        bad = steps.graph.some([*steps.bad.values(), *rest])
        known = find_unused_codes(steps, self.wait)
        guessed = guess_lemmas(steps, sample_states(circuit))
        self.encoding_seconds += time.perf_counter() - began
        self.doing = f"{len(guessed):,} guesses at an invariant"
        with SatSolver(LEMMA_SOLVER, self.wait) as self.lemma_solver:
            questions = prove_by_lemmas(steps, guessed, known, bad, self.lemma_solver)
            lemmas = yield from self._ask_for_lemmas(questions, self.lemma_solver)
        self.lemma_solver = None
        if lemmas is None:
            return False
        check_invariant(steps, known, bad, self.wait, [each.literals for each in lemmas])
        tell = partial(describe_invariant, steps, known, [each.text for each in lemmas])
        self._accept(len(known) + len(lemmas), tell)
        return True

    def _ask_for_lemmas(
        self, questions: Questions, solver: SatSolver
    ) -> Generator[Question, Answer | bool, list[Lemma] | None]:
        try:
            assumptions = next(questions)
            while True:
                found = yield ModelQuestion(solver, assumptions)
                check_time(PHASE)
                assumptions = questions.send(bool(found))
        except StopIteration as end:
            lemmas: list[Lemma] | None = end.value
            return lemmas

    @property
    def scheduler(self) -> str:
        """The scheduler whose steps keep an invariant of the circuit, where not all steps do."""
        return str(self.interleaving) if self.interleaving in REDUCED else ""

    def _accept(self, many: int, tell: Callable[[], str], scheduler: str = "") -> None:
        """A proof has been found, and checked; `tell` says it in words, where these are wanted."""
        clauses = f"{many:,} clause{'' if many == 1 else 's'}"
        of_these = f" of the steps that the scheduler '{scheduler}' allows" if scheduler else ""
        self.proof = f"an inductive invariant of {clauses}{of_these}"
        if not self.limits and self.file is not None:
            self.file.append(tell())

    def solver_bytes(self, solver: SatSolver) -> int:
        known = {id(each): each for each in (solver, self.solver, self.lemma_solver) if each}
        return sum(each.resident_bytes() for each in known.values())

    def hear(self, solver: SatSolver, progress: Progress) -> None:
        """Note how far the search is, and look at the limits."""
        self.covered = self.depth = max(self.covered, progress.frames)
        self.queries = progress.queries
        self.doing = describe_progress(progress)
        check_time(PHASE)
        self.wait(solver)

    def describe_effort(self) -> tuple[str, ...]:
        if self.circuit is None:
            return ()
        told = f"circuit of one {self.unit}: {self.circuit.describe()}"
        if self.options.deterministic:
            return (told,)
        return (f"{told}; {self.encoding_seconds:.2f} s for encoding",)


def describe_progress(progress: Progress) -> str:
    """How far a search for an invariant is, for whoever watches it."""
    frames, clauses, queries = progress
    return f"frame {frames:,}: {clauses:,} clauses, {queries:,} questions"


class InvariantFile:
    """The file of `--invariant`.  It is begun before the search: a file that cannot be written is
    refused at once, and what an earlier check wrote does not stay where nothing is proved."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.parts: list[str] = []
        self._write("# No inductive invariant has been found.\n")

    def append(self, part: str) -> None:
        """Add the invariant of one search: a check may consist of several."""
        self.parts.append(part)
        self._write("".join(self.parts))

    def _write(self, text: str) -> None:
        try:
            Path(self.path).write_text(text, encoding="utf-8")
        except OSError as error:
            reason = error.strerror or error
            raise OptionError(f"--invariant {self.path} cannot be written: {reason}") from error


def find_ends(
    owner: CircuitSearch, ends: Ends, known: Sequence[tuple[int, ...]], solver: SatSolver
) -> tuple[str, ...]:
    """Look for the states in which nobody moves because of assumptions, once there is a proof.

    They are for notes alone: where a limit ends this, the proof stands, and less is said.
    """
    complete = False
    try:
        for kind, literal in list(ends.unseen.items()):
            question = WayQuestion(ends.circuit, literal, known)
            answer = find_way(question, solver, lambda _: owner.wait(solver))
            if isinstance(answer, ReachingInputs):
                ends.note(kind, answer.frames)
        complete = not owner.limits
    except (TimeLimitError, SolverFailure):
        solver.kill()
    except LimitReached as limit:
        solver.kill()
        if str(limit) == "cancelled":
            raise
    return ends.describe(owner.options.properties, complete=complete)
