"""A program in the intermediate representation as a `Runnable`, on the reference interpreter.

Shared cells are the objects, their values the states.  A thread's own cells belong to its position;
where other threads may touch them (a creator hands over arguments and sets the program counter, a
joining thread looks at it) they are together one more object, the thread's *life*, which each of
the thread's own steps writes.

An operation is one interpreter step that touches an object.  Steps that touch none are taken
together with the one before, or at the start: nobody can tell when they happen.  So the scheduling
points are those of real Python code, before accesses to what is shared.

A schedule says who goes on, not what a nondeterministic step chooses, so programs with `choose` are
refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mazurka.analysis.standstill import is_deadlock
from mazurka.errors import UnsupportedError
from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import FINISHED, WRONG, Fault, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.ir.values.footprints import Footprints
from mazurka.stateless.models.execution import Visits
from mazurka.stateless.models.fixed_points import PointTable
from mazurka.stateless.models.views import describe_failure, list_own_cells
from mazurka.stateless.runs import Abandon, Decider, Ended, Failed, LifeRole, Lookup, Shared, Touch

LOCAL_LIMIT = 100_000
"""How many steps a thread may take in a row without touching anything shared."""


class IRRuns:
    """Runs a program again and again from its start."""

    def __init__(self, program: Program) -> None:
        refuse_choices(program)
        self.program = program
        self.interpreter = share_interpreter(program)
        self.own_cells = list_own_cells(program)
        footprints = Footprints(program)
        self.points = [PointTable(program, n, footprints) for n in range(len(program.threads))]
        visits = Visits(program, footprints)
        self.visited = visits.is_read | visits.is_written
        """Threads whose own cells others may touch."""
        self._looks_at: dict[tuple[int, int], tuple[int, ...]] = {}

    def run(self, decider: Decider) -> Ended:
        return _ModelRun(self).run_to_end(decider)

    def looks_at(self, thread: int, location: int) -> tuple[int, ...]:
        """The cells of others that a step from a location may read, in any state."""
        known = self._looks_at.get((thread, location))
        if known is None:
            points = self.points[thread]
            foreign = points.foreign(points.at(location).may_read)
            known = self._looks_at[thread, location] = tuple(sorted(foreign))
        return known


def refuse_choices(program: Program) -> None:
    for edge in program.edges:
        if edge.choices > 1:
            raise UnsupportedError.at(
                edge.span,
                "a nondeterministic choice is no part of a schedule; use a search of the model's"
                " states, or one thread for each choice",
            )


class IRStep:
    """What a thread stands before: its next step, with its own cells as they are.

    Other cells are looked up if a step from there may read them; the rest has no effect on it.
    """

    yields = False
    seconds = ends = 0.0
    role = LifeRole.STEP
    joined = -1

    def __init__(self, run: _ModelRun, thread: int) -> None:
        self.run = run
        self.thread = thread
        self.own = run.state

    @property
    def kind(self) -> str:
        location = self.own[self.run.program.threads[self.thread].counter]
        edges = self.run.program.threads[self.thread].edges_at(location)
        return next((str(edge.kind) for edge in edges), "")

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        step = self.step(lookup)
        return self.run.touches(step) if step.happened else None

    def step(self, lookup: Lookup) -> Step:
        run, thread = self.run, self.thread
        cells = list(self.own)
        if thread in run.lives:
            run.unpack(cells, thread, lookup(run.lives[thread]))
        location = cells[run.program.threads[thread].counter]
        for address in run.runs.looks_at(thread, location):
            owner = run.program.cells[address].owner
            if owner is None:
                cells[address] = lookup(run.objects[address])  # type: ignore[call-overload]
            else:
                run.unpack(cells, owner, lookup(run.lives[owner]))
        return run.runs.interpreter.step(tuple(cells), thread)


class _ModelRun:
    """One run: the objects in their present states."""

    def __init__(self, runs: IRRuns) -> None:
        self.runs = runs
        self.program = program = runs.program
        self.state: State = program.initial_state()
        self.objects = {
            address: Shared(f"{cell.name}@{address}", self.state[address])
            for address, cell in enumerate(program.cells)
            if address and cell.owner is None
        }
        self.lives = {
            thread: Shared(f"life of thread {thread}", self.own(thread)) for thread in runs.visited
        }
        self.failures: list[Failed] = []
        self.pending: list[IRStep | None] = []

    def run_to_end(self, decider: Decider) -> Ended:
        threads = range(len(self.program.threads))
        self.pending = [self.stand(thread) for thread in threads]
        last, abandoned = -1, False
        while enabled := [thread for thread in threads if self.is_enabled(thread)]:
            try:
                last = decider.decide(self.pending, enabled, last)
            except Abandon:
                abandoned = True
                break
            self.apply(self.runs.interpreter.step(self.state, last))
            self.pending[last] = self.stand(last)
        if not abandoned and self.deadlocked():
            self.failures.append(Failed(kind="deadlock", message=""))
        return Ended(failures=self.failures, abandoned=abandoned, pending=tuple(self.pending))

    def is_enabled(self, thread: int) -> bool:
        stands = self.pending[thread] is not None
        return stands and self.runs.interpreter.step(self.state, thread).happened

    def stand(self, thread: int) -> IRStep | None:
        """Go on to the next step that touches an object."""
        for _ in range(LOCAL_LIMIT):
            location = self.runs.interpreter.location(self.state, thread)
            if location in (FINISHED, WRONG) and thread not in self.lives:
                return None
            step = self.runs.interpreter.step(self.state, thread)
            if not step.happened or self.touches(step):
                return IRStep(self, thread)
            self.apply(step)
        name = self.program.threads[thread].name
        message = f"{name} takes more than {LOCAL_LIMIT:,} steps without touching what is shared"
        self.failures.append(Failed(kind=str(Fault.BOUND), message=message, thread=thread))
        return None

    def apply(self, step: Step) -> None:
        before, self.state = self.state, step.state
        for address, shared in self.objects.items():
            if before[address] != step.state[address]:
                shared.state = step.state[address]
        for thread, life in self.lives.items():
            life.state = self.own(thread)
        failed = describe_failure(step)
        if failed is not None:
            self.failures.append(failed)

    def touches(self, step: Step) -> list[Touch]:
        found: dict[Shared, bool] = {}
        if step.thread in self.lives:
            found[self.lives[step.thread]] = True
        for addresses, written in ((step.footprint_writes, True), (step.footprint_reads, False)):
            for address in sorted(addresses):
                owner = self.program.cells[address].owner
                if owner is None:
                    found.setdefault(self.objects[address], written)
                elif owner != step.thread:
                    found.setdefault(self.lives[owner], written)
        return list(found.items())

    def own(self, thread: int) -> tuple[int, ...]:
        return tuple(self.state[address] for address in self.runs.own_cells[thread])

    def unpack(self, cells: list[int], thread: int, values: Hashable) -> None:
        assert isinstance(values, tuple)
        for address, value in zip(self.runs.own_cells[thread], values, strict=True):
            cells[address] = value

    def deadlocked(self) -> bool:
        """Whether nobody moves, and threads wait that no stopped thread could help."""
        return is_deadlock(self.runs.interpreter, self.state)
