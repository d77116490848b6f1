"""Proofs by inductive invariants: property-directed reachability on a circuit.

`mazurka.symbolic.solving.property_directed` has the algorithm, which runs in the solver's process.
Here the circuit is handed to it, and nothing that comes back is trusted:

- an invariant is checked by another solver (`mazurka.symbolic.invariants`, with the argument);
- a way to a violation is followed on the interpreter.

What is bad for the proof is every violation, and every step that is not known
(`mazurka.symbolic.circuit`).  If such a step is reachable, and is no violation itself, the answer
is inconclusive, and the search goes on without it: what else is found is still real.

Sweeps are the plain ones here, not the earliest: these remember more than the state, and restrict
which frames count (`mazurka.symbolic.reaching` leaves that out).  Program counters are held in
binary, which needs fewer clauses.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

from mazurka.deadline import TimeLimitError, check_time
from mazurka.errors import OptionError
from mazurka.symbolic.bmc import PHASE, CircuitSearch, LimitReached
from mazurka.symbolic.circuit import OF_STATES, Circuit, Interleaving
from mazurka.symbolic.ends import Ends
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.invariants import check_invariant, describe_invariant, find_unused_codes
from mazurka.symbolic.reaching import (
    ExcludingInvariant,
    ReachingInputs,
    WayQuestion,
    find_way,
)
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.solving.property_directed import Progress
from mazurka.symbolic.solving.solver import SatSolver, SolverFailure


class InvariantSearch(CircuitSearch):
    """A search for an inductive invariant, or for a violation."""

    sweeps = Interleaving.SWEEPS
    counters = BINARY
    queries = 0
    file: InvariantFile | None = None
    """Where invariants are to be written."""

    def search(self, circuit: Circuit, solver: SatSolver) -> None:
        questions = self.decide(circuit, solver)
        question = next(questions)
        while True:
            answer = find_way(question, solver, partial(self.hear, solver))
            try:
                question = questions.send(answer)
            except StopIteration:
                return

    def decide(
        self, circuit: Circuit, solver: SatSolver
    ) -> Generator[WayQuestion, ReachingInputs | ExcludingInvariant, None]:
        """Ask questions until the answers decide; what is found is entered here.

        The solver is for notes, once there is a proof."""
        known = find_unused_codes(circuit, self.wait)
        unknown = dict(circuit.unknown)
        while True:
            literals = [*circuit.bad.values(), *unknown.values()]
            bad = circuit.graph.some(literals)
            answer = yield WayQuestion(circuit, bad, known)
            if isinstance(answer, ExcludingInvariant):
                break
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
        check_invariant(circuit, answer.cubes, bad, self.wait)
        many = len(answer.cubes)
        self.proof = f"an inductive invariant of {many:,} clause{'' if many == 1 else 's'}"
        if not self.limits and self.file is not None:
            self.file.append(describe_invariant(circuit, answer.cubes))
        self.stop_notes = find_ends(self, Ends(circuit), known, solver)

    def solver_bytes(self, solver: SatSolver) -> int:
        others = [self.solver] if self.solver is not None and self.solver is not solver else []
        return sum(each.resident_bytes() for each in (solver, *others))

    def hear(self, solver: SatSolver, progress: Progress) -> None:
        """Note how far the search is, and look at the limits."""
        self.covered = self.depth = max(self.covered, progress.frames)
        self.queries = progress.queries
        check_time(PHASE)
        self.wait(solver)
        self.observer.message(f"frame {progress.frames:,}: {progress.clauses:,} clauses")
        self.observer.progress(self.statistics())

    def describe_effort(self) -> tuple[str, ...]:
        if self.circuit is None:
            return ()
        told = f"circuit of one {self.unit}: {self.circuit.describe()}"
        if self.options.deterministic:
            return (told,)
        return (f"{told}; {self.encoding_seconds:.2f} s for encoding",)


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
