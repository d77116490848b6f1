"""Reachability with decision diagrams: all states at a time, none of them by itself.

`mazurka.symbolic.solving.reachability` has the algorithm, which runs in another process;
`mazurka.symbolic.partition` cuts the circuit into parts for it.  The circuit is that of single
steps, and its reachable states are those of the program (`mazurka.symbolic.circuit`); so if no
violation and no step that is not known is among them, the program holds.

*Interleavings.*  With `sweeps` a pass over the parts is a round: each thread in turn goes on as far
as it can.  With `full` a pass is one step from each state.  The states are the same.  With
`partial-order` and `transactions` a pass is one step that paper 004's schedulers allow, and there
are fewer states; violations are as reachable as before
(`mazurka.symbolic.interleavings.stubborn`).

A way to a violation is a list of inputs, which is followed on the interpreter as any other.  A step
that is not known is examined there, too: if it is no violation, the search goes on, and the answer
is inconclusive unless a violation is found elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mazurka.deadline import check_time
from mazurka.ir.program import Program
from mazurka.search import ExplainedPart, Observer, SearchOptions, Statistics, Violation
from mazurka.symbolic.bmc import PHASE, UNITS, CircuitSearch, SearchSubject
from mazurka.symbolic.circuit import REDUCED, Circuit, Interleaving
from mazurka.symbolic.ends import Ends
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.options import INTERLEAVING, has_diagrams, require_diagrams
from mazurka.symbolic.partition import Partition
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.solving.diagrams import AllStates, DiagramSolver, TargetFound
from mazurka.symbolic.solving.reachability import ReachProgress

IN_PLAIN_PYTHON = "diagrams in plain Python, since dd is installed without CUDD"


class DiagramSearch(CircuitSearch):
    """A search of all states by decision diagrams."""

    sweeps = Interleaving.FULL
    counts_all = False
    counters = BINARY
    states = 0
    parts = 0
    """How many parts the relation has."""
    nodes = 0
    """The largest diagram of all states that was seen."""

    def __init__(
        self,
        program: Program,
        options: SearchOptions,
        observer: Observer,
        subject: SearchSubject | None = None,
    ) -> None:
        super().__init__(program, options, observer, subject)
        asked = Interleaving(options.value(INTERLEAVING))
        self.chained = asked is Interleaving.SWEEPS
        """Whether a pass is a round."""
        self.unit = UNITS[asked if self.chained else self.interleaving]

    @staticmethod
    def require() -> None:
        require_diagrams()

    def conduct(self, circuit: Circuit) -> None:
        with DiagramSolver(waiting=self.wait_for) as solver:
            reach = Reaching(self, circuit)
            self.doing = f"making diagrams of {self.parts:,} parts"
            found = solver.reach(reach.problem, self.hear, reach.report)
        if found is not None:
            self.accept(reach, found)

    def accept(self, reach: Reaching, found: AllStates) -> None:
        """All states have been found."""
        self.covered, self.states = found.passes, found.states
        self.conclude(reach.circuit, reach.partition, found)
        complete = not self.limits
        self.stop_notes = reach.ends.describe(self.options.properties, complete=complete)

    def divide(self, circuit: Circuit) -> Partition:
        """The parts of the circuit."""
        return Partition(circuit)

    def conclude(self, circuit: Circuit, partition: Partition, found: AllStates) -> None:
        """Say what follows from all states."""
        states = f"state{'' if found.states == 1 else 's'}"
        if self.interleaving in REDUCED:
            led_to = f"to which the scheduler '{self.interleaving}' leads"
            self.proof = f"a decision diagram of all {found.states:,} {states} {led_to}"
        else:
            self.proof = f"a decision diagram of all {found.states:,} reachable {states}"

    def wait_for(self, solver: DiagramSolver) -> None:
        """Look at the limits while the other process works."""
        self.keep_limits(solver.resident_bytes)

    def hear(self, progress: ReachProgress) -> None:
        """Note how far the search is."""
        self.covered = self.depth = progress.passes
        self.nodes = max(self.nodes, progress.nodes)
        check_time(PHASE)
        self.doing = describe_pass(progress)
        self.observer.progress(self.statistics())

    def explain(self) -> Iterator[ExplainedPart]:
        for part in super().explain():
            parts = f"{self.parts:,}, one for each thread and place from which it can move"
            order = "bits that occur together side by side (FORCE)"
            order += ", then as CUDD moves them" if has_diagrams() else ""
            rows = (*part.rows, ("parts", parts), ("order", order))
            yield replace(part, rows=rows)

    def statistics(self) -> Statistics:
        return replace(super().statistics(), states=self.states)

    def describe_effort(self) -> tuple[str, ...]:
        if self.circuit is None:
            return ()
        told = f"circuit of one {UNITS[self.interleaving]}: {self.circuit.describe()}"
        if not self.options.deterministic:
            told = f"{told}; {self.encoding_seconds:.2f} s for encoding"
        found = f"{told}; states as a diagram of up to {self.nodes:,} nodes"
        return (found,) if has_diagrams() else (found, IN_PLAIN_PYTHON)


def describe_pass(progress: ReachProgress) -> str:
    """How far a search is, for whoever watches it."""
    return f"pass {progress.passes:,}: a diagram of {progress.nodes:,} nodes"


class Reaching:
    """What is asked of the process, and what becomes of its answers."""

    def __init__(self, owner: DiagramSearch, circuit: Circuit) -> None:
        self.owner, self.circuit = owner, circuit
        self.ends = Ends(circuit)
        self.partition = owner.divide(circuit)
        owner.parts = len(self.partition.parts)
        named = [(name, circuit.bad) for name in circuit.bad]
        named += [(name, circuit.unknown) for name in circuit.unknown]
        named += [(name, self.ends.unseen) for name in self.ends.unseen]
        self.targets = [(name, kind[name]) for name, kind in named if kind[name] != FALSE]
        literals = [literal for _, literal in self.targets]
        problem = self.partition.make_problem(literals, owner.limit_bytes)
        self.problem = problem._replace(chained=owner.chained)

    def report(self, found: TargetFound) -> bool:
        """Judge a target that can hold; whether to go on."""
        owner, circuit = self.owner, self.circuit
        name, _ = self.targets[found.target]
        frames = [self.partition.choose(part, inputs) for part, inputs in found.frames]
        if name in self.ends.unseen:
            self.ends.note(name, frames)
            return True
        known = circuit.bad if name in circuit.bad else circuit.unknown
        kind, path, step = ScheduleReader(circuit).read(frames, {name: known[name]})
        if kind in circuit.bad:
            owner.violation, owner.depth = Violation(kind, path), len(path)
            return False
        assert step is not None
        return not owner.examine_unknown(path, step)
