"""Bounded model checking: is a violation possible after so many transitions of a circuit?

Biere, Cimatti, Clarke, Zhu, *Symbolic Model Checking without BDDs* (TACAS 1999).  Frame
after frame of the circuit is added to a SAT problem.  For each, the solver is asked whether `bad`
is possible in it; if not, the frame is required to be a transition (`constraint`), and the solver
is asked whether it can be one.

*Complete.*  If no run has a further transition, every run has been looked at: the states at which
frames begin are all reachable states (`mazurka.symbolic.circuit`), and none of them is bad.  So a
program whose runs all end is proved.  For others the search ends after so many rounds, and its
answer is inconclusive: *no violation within k rounds*.  The runs of a formula never end; where all
of them come to rest, so many frames behind that are enough (`mazurka.symbolic.temporal.loops`).

*Not known.*  A step whose loops were unrolled too little, and a bound of the model, are looked for
like violations.  The interpreter takes the step: if it never ends, that is a violation
(`livelock`); otherwise the answer is inconclusive, and violations elsewhere are still looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from mazurka.deadline import (
    TimeLimitError,
    check_time,
    ended_by,
    interruptible,
    last_moment,
    seconds_left,
    time_limit,
)
from mazurka.ir.interpreter import Step
from mazurka.ir.program import Fault, Program
from mazurka.search import (
    ExplainedPart,
    Move,
    Observer,
    SearchOptions,
    SearchResult,
    Statistics,
    Violation,
)
from mazurka.search.resources import default_limit_bytes, resident_bytes
from mazurka.symbolic.circuit import OF_STATES, Circuit, Interleaving, Rest
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.ends import Ends
from mazurka.symbolic.environment import ONE_HOT
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig, ClauseWriter
from mazurka.symbolic.options import INTERLEAVING, ROUNDS, UNROLLED, require_solver
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.solving.solver import SatSolver, SolverFailure
from mazurka.symbolic.unrolling import FrameCopy, Unroller

UNITS = {
    Interleaving.FULL: "step",
    Interleaving.PARTIAL_ORDER: "scheduled step",
    Interleaving.TRANSACTIONS: "transaction",
    Interleaving.PEEPHOLE: "step",
    Interleaving.SWEEPS: "round",
    Interleaving.EARLIEST_SWEEPS: "round",
}
"""What a transition is called: that of a reduced scheduler is not just any step of the program
(`mazurka.symbolic.interleavings.stubborn`)."""
PHASE = "checking the circuit"


class LimitReached(Exception):  # noqa: N818 - it is control flow, not an error
    """A limit other than that of time; the message is its name."""


class SearchSubject:
    """What a search asks of a program: here, whether a step fails or a state is bad."""

    plain_steps = False
    """Whether a transition must be one step, whatever interleaving is asked for."""
    concerns_faults = True
    """Whether a step that never ends is what was asked for, and not the matter of another check."""

    def encode(self, search: CircuitSearch) -> Circuit:
        """The circuit in which what is asked for is `bad`."""
        return encode(
            search.program,
            search.interleaving,
            properties=search.options.properties,
            counters=search.counters,
            unrolling=search.options.value(UNROLLED),
            idling=search.idling,
            observer=search.observer,
        )

    def judge(
        self, circuit: Circuit, frames: Sequence[Sequence[int]], kind: str, path: tuple[Move, ...]
    ) -> Violation:
        """The violation that the inputs of some frames lead to; the path is that of the frames."""
        return Violation(kind, path)

    def find_rest(self, circuit: Circuit) -> Rest | None:
        """How to tell that no path need be followed further, where all paths go on for ever."""
        return None

    def describe_bound(self, many: str) -> str:
        """Why a search that has looked ahead so far, `5 rounds`, has no answer."""
        return f"some execution has more than {many}"


class CircuitSearch:
    """One search, and what it has found.  Other back ends derive from it."""

    sweeps = Interleaving.EARLIEST_SWEEPS
    """What is encoded where sweeps are asked for."""
    counters = ONE_HOT
    idling = False
    """Whether frames that are no transitions must change nothing."""
    counts_all = True
    """Whether all that is asked is asked of `solvers`."""

    def __init__(
        self,
        program: Program,
        options: SearchOptions,
        observer: Observer,
        subject: SearchSubject | None = None,
    ) -> None:
        self.require()
        self.program, self.options, self.observer = program, options, observer
        self.subject = subject or SearchSubject()
        asked = Interleaving(options.value(INTERLEAVING))
        self.interleaving = self.sweeps if asked is Interleaving.SWEEPS else asked
        if self.subject.plain_steps:
            self.interleaving = Interleaving.FULL
        self.unit = UNITS[self.interleaving]
        self.most_frames: int = options.value(ROUNDS)
        self.limit_bytes = options.share_bytes or options.limit_bytes or default_limit_bytes()
        self.started = time.perf_counter()
        self.bytes_before = resident_bytes()
        self.peak_bytes = 0
        self.encoding_seconds = 0.0
        self.covered = 0
        """No run violates anything in so many transitions."""
        self.depth = 0
        """The transitions of the longest execution that has been looked at."""
        self.doing = ""
        """What the search is busy with, for whoever watches it."""
        self.limits: list[str] = []
        self.stop_notes: tuple[str, ...] = ()
        self.proof: str | None = None
        """What proves that there is no violation, where not all executions come to an end."""
        self.violation: Violation | None = None
        self.circuit: Circuit | None = None
        self.frames: Aig | None = None
        """The copies of the circuit."""
        self.solver: SatSolver | None = None

    def run(self) -> SearchResult:
        """Search.  Whoever has not begun a time limit of its own has that of the options."""
        with time_limit(self.options.limit_seconds, since=self.started):
            return self._run()

    def _run(self) -> SearchResult:
        try:
            with ended_by(self.options.cancelled), interruptible():
                self.work()
        except KeyboardInterrupt:
            self.limits.append("interrupted")
        except TimeLimitError:
            self.limits.append("time")
        except LimitReached as limit:
            self.limits.append(str(limit))
        except SolverFailure:
            self.limits.append("memory")
        notes = () if self.violation is not None else self.stop_notes
        limits = tuple(dict.fromkeys(self.limits))
        return SearchResult(
            self.statistics(),
            self.violation,
            limits,
            (*notes, *self.describe_effort()),
            explanation=self.try_to_explain() if self.options.explain else (),
        )

    @staticmethod
    def require() -> None:
        """Refuse to search where something is missing."""
        require_solver()

    def work(self) -> None:
        """Encode the program, and search."""
        self.circuit = self.encode()
        self.conduct(self.circuit)

    def conduct(self, circuit: Circuit) -> None:
        """Search with a solver."""
        with SatSolver(waiting=self.wait) as self.solver:
            self.search(circuit, self.solver)

    def search(self, circuit: Circuit, solver: SatSolver) -> None:
        """Find a violation, or enter how far none is possible."""
        FrameLoop(self, circuit, solver).search()

    def encode(self) -> Circuit:
        began = time.perf_counter()
        self.observer.message("encoding the model")
        try:
            return self.subject.encode(self)
        finally:
            self.encoding_seconds += time.perf_counter() - began

    def wait(self, solver: SatSolver) -> None:
        """Look at the limits while the solver works."""
        self.keep_limits(lambda: self.solver_bytes(solver))

    def keep_limits(self, other_bytes: Callable[[], int]) -> None:
        """End the search at a limit, or tell how it goes; `other_bytes` is the memory of other
        processes."""
        left, given = seconds_left(), self.options.limit_seconds
        spent = time.perf_counter() - self.started
        if (left is not None and left <= 0) or (given is not None and spent >= given):
            raise LimitReached("time")
        used = other_bytes() + self.own_bytes()
        self.peak_bytes = max(self.peak_bytes, used)
        if used > self.limit_bytes and not self.obtain_memory():
            raise LimitReached("memory")
        if self.options.cancelled is not None and self.options.cancelled():
            raise LimitReached("cancelled")
        self.observer.progress(self.statistics())

    def own_bytes(self) -> int:
        """The memory that the search takes in this process, where others may search as well."""
        if self.options.share_bytes is None:
            return max(resident_bytes() - self.bytes_before, 0)
        graphs = [self.frames] if self.circuit is None else [self.circuit.graph, self.frames]
        return sum(graph.bytes for graph in graphs if graph is not None)

    def obtain_memory(self) -> bool:
        """Ask for more memory than the search began with; whether there is some."""
        more = self.options.more_bytes() if self.options.more_bytes is not None else 0
        if more <= self.limit_bytes:
            return False
        self.limit_bytes = more
        return True

    def solver_bytes(self, solver: SatSolver) -> int:
        """The memory of all solvers, one of which is at work."""
        return solver.resident_bytes()

    def look_at_limits(self) -> None:
        """The same between calls of the solver; and tell how far the search is."""
        check_time(PHASE)
        if self.solver is not None:
            self.doing = f"{self.solver.clauses:,} clauses"
            self.wait(self.solver)

    def statistics(self) -> Statistics:
        return Statistics(
            depth=self.depth,
            seconds=time.perf_counter() - self.started,
            peak_bytes=self.peak_bytes,
            unrolled=self.covered,
            unrolled_unit=self.unit,
            proof=self.proof,
            doing=self.doing,
            encoding_seconds=self.encoding_seconds,
            loading_seconds=None if self.solver is None else self.solver.loading_seconds,
            conflicts=sum(each.conflicts for each in self.solvers) if self.counts_all else None,
        )

    def examine_unknown(self, path: tuple[Move, ...], step: Step) -> bool:
        """Judge a step that is not known, as the interpreter takes it; whether it is a violation.
        If not, nobody knows what lies behind it, and the answer is inconclusive."""
        if step.fault is None:
            line = self.program.edges[step.edges[0]].span.line
            rounds = self.options.value(UNROLLED)
            self.limits.append(
                f"the atomic section at line {line} goes round more than {rounds} times"
            )
        elif step.fault.fault is Fault.LIVELOCK and not self.subject.concerns_faults:
            self.limits.append("a step never ends")
        elif step.fault.fault is Fault.LIVELOCK:
            self.violation = Violation(str(Fault.LIVELOCK), path)
            return True
        else:
            self.limits.append(step.fault.message)
        return False

    def describe_effort(self) -> tuple[str, ...]:
        """What was encoded, and what took the time."""
        if self.circuit is None:
            return ()
        told = f"circuit of one {self.unit}: {self.circuit.describe()}"
        if self.solver is None or self.options.deterministic:
            return (told,)
        solvers = self.solvers
        clauses = sum(each.clauses for each in solvers)
        loading = sum(each.loading_seconds for each in solvers)
        solving = sum(each.solving_seconds for each in solvers)
        return (
            f"{told}; {self.encoding_seconds:.2f} s for encoding,"
            f" {loading:.2f} s for loading {clauses:,} clauses, {solving:.2f} s for solving",
        )

    @property
    def solvers(self) -> list[SatSolver]:
        """Those that have been asked for the answer."""
        return [] if self.solver is None else [self.solver]

    def try_to_explain(self) -> tuple[ExplainedPart, ...]:
        """What was made of the program, unless the time is up for that, too."""
        try:
            with last_moment():
                return tuple(self.explain())
        except TimeLimitError:
            return ()

    def explain(self) -> Iterator[ExplainedPart]:
        """What was made of the program, part by part."""
        if self.circuit is not None:
            from mazurka.symbolic.explaining import explain_circuit

            yield explain_circuit(self.circuit, self.interleaving, "the circuit")


class FrameLoop:
    """The loop over the frames."""

    def __init__(self, owner: CircuitSearch, circuit: Circuit, solver: SatSolver) -> None:
        self.owner, self.circuit, self.solver = owner, circuit, solver
        self.rest = owner.subject.find_rest(circuit)
        others = [] if self.rest is None else [self.rest.moving]
        self.unroller = Unroller(circuit, others=others)
        self.graph = owner.frames = self.unroller.graph
        self.writer = ClauseWriter(self.graph)
        self.unknown = dict(circuit.unknown)
        """What is still looked for beside violations."""
        self.ends = Ends(circuit)
        self.resting: int | None = None
        """After so many transitions every path has come to rest."""

    def search(self) -> None:
        owner = self.owner
        while True:
            owner.look_at_limits()
            frame = self._add_frame()
            owner.depth = len(self.unroller.frames) - 1
            if self._find_violation(frame):
                return
            self._find_ends(frame)
            owner.covered = len(self.unroller.frames) - 1
            notes = self.prove_rest()
            if notes is not None:
                owner.stop_notes = notes
                return
            if not self._require(frame.literal(self.circuit.constraint)):
                owner.stop_notes = self._describe_ends(complete=not owner.limits)
                return
            if self._has_followed_all(frame):
                return
            if owner.covered >= owner.most_frames and self.resting is None:
                owner.limits.append(owner.subject.describe_bound(self._describe_covered()))
                owner.stop_notes = self._describe_ends(complete=False)
                return

    def _has_followed_all(self, frame: FrameCopy) -> bool:
        """Whether all paths have come to rest, and were followed for long enough after that."""
        if self.rest is None:
            return False
        owner = self.owner
        if self.resting is None and not self._is_possible(frame.literal(self.rest.moving)):
            self.resting, self.told = owner.covered, self._describe_covered()
        if self.resting is None or owner.covered < self.resting + self.rest.tail:
            return False
        if not owner.limits:
            owner.proof = f"bounded search, since all runs come to rest within {self.told}"
        return True

    def _describe_covered(self) -> str:
        covered, unit = self.owner.covered, self.owner.unit
        return f"{covered:,} {unit}{'' if covered == 1 else 's'}"

    def prove_rest(self) -> tuple[str, ...] | None:
        """Prove that no violation lies behind the frames either: what to say then of states in
        which nobody moves.  None where there is no proof."""
        return None

    def _add_frame(self) -> FrameCopy:
        began = time.perf_counter()
        frame = self.unroller.add_frame()
        self.owner.encoding_seconds += time.perf_counter() - began
        return frame

    # --- questions to the solver ----------------------------------------------------------------

    def _is_possible(self, literal: int) -> bool:
        """Whether a literal can hold, given all that has been required."""
        if literal == FALSE:
            return False
        return self.solver.solve([] if literal == TRUE else [self._define(literal)])

    def _require(self, literal: int) -> bool:
        """Require a literal from now on; returns whether that is possible."""
        if literal == FALSE:
            return False
        if literal != TRUE:
            self.solver.add_clause([self._define(literal)])
        return self.solver.solve()

    def _define(self, literal: int) -> int:
        """What a literal is called in clauses, which define it."""
        began = time.perf_counter()
        clauses = self.writer.define([literal])
        self.owner.encoding_seconds += time.perf_counter() - began
        self.solver.add(clauses)
        return self.writer.literal(literal)

    # --- what was found -------------------------------------------------------------------------

    def _find_violation(self, frame: FrameCopy) -> bool:
        """Look for a violation in a frame, or for what is not known; whether it is over."""
        while True:
            bad = self.graph.some(map(frame.literal, self.circuit.bad.values()))
            unknown = self.graph.some(map(frame.literal, self.unknown.values()))
            if not self._is_possible(self.graph.either(bad, unknown)):
                return False
            if self._is_possible(bad):
                frames = self._values()
                kind, path, _ = ScheduleReader(self.circuit).read(frames, self.circuit.bad)
                self.owner.violation = self.owner.subject.judge(self.circuit, frames, kind, path)
                self.owner.depth += kind not in OF_STATES  # the step that fails belongs to it
                return True
            if self._is_possible(unknown) and self._examine_unknown():
                return True

    def _examine_unknown(self) -> bool:
        """Let the interpreter take a step that is not known; whether it is a violation."""
        name, path, step = ScheduleReader(self.circuit).read(self._values(), self.unknown)
        assert step is not None
        del self.unknown[name]
        return self.owner.examine_unknown(path, step)

    def _values(self) -> list[list[int]]:
        """The values of all frames' inputs in the last model."""
        frames = [frame.inputs for frame in self.unroller.frames]
        wanted = [each for inputs in frames for each in inputs if self.writer.has(each)]
        values = self.solver.values([self.writer.literal(each) for each in wanted])
        known = dict(zip(wanted, values, strict=True))
        return [[known.get(each, 0) for each in inputs] for inputs in frames]

    # --- ends that are due to assumptions -------------------------------------------------------

    def _find_ends(self, frame: FrameCopy) -> None:
        """Look for states in which nobody moves, one of each kind."""
        for name, literal in list(self.ends.unseen.items()):
            if self._is_possible(frame.literal(literal)):
                self.ends.note(name, self._values())

    def _describe_ends(self, *, complete: bool) -> tuple[str, ...]:
        return self.ends.describe(self.owner.options.properties, complete=complete)
