"""A program in the intermediate representation run on the reference interpreter.

An action is what one interpreter step of the thread would do in the present state, and its
footprint is that step's, with three changes.

- A step that cannot be taken writes nothing: what an atomic section did before it got stuck has not
  happened.
- A thread's own cells are missing from its footprints, yet others may touch them: a creator hands
  over arguments and sets the program counter.  The counter stands for all of these cells; whoever
  touches one of them touches the counter, and so does each action of the thread itself.  A
  thread at its end still reads it: nothing keeps a creator from starting the thread once more.
- Where a thread has several choices and others may decide which of them exist, each choice reads
  what any of them looks at.  Otherwise a step that makes another choice possible would seem
  independent of the choice that was made instead.

Whether a point of a thread's life is *fixed* is decided from the edges alone (`fixed_points`).
States are plain tuples, so rewinding costs nothing, and what a thread does is worked out once for
all states that look the same to it (`views`).

The program says itself what its threads would do next (`Foresight`), nondeterministic choices
included, so it shows no operations: it is for reductions.  `runs.IRRuns` is for searches that ask
operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mazurka.analysis.standstill import examine_standstill
from mazurka.analysis.stops import Stops
from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import FINISHED, WRONG, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.ir.values.footprints import Footprints
from mazurka.stateless.models.fixed_points import Point, PointTable
from mazurka.stateless.models.views import View, Views
from mazurka.stateless.reduction.actions import STUCK, Action, Events, Foresight, Move
from mazurka.stateless.reduction.trace import bits
from mazurka.stateless.runs import Abandon, Decider, Ended, Failed, move_of, thread_of

Actions = tuple[Action, ...]

ENDLESS = (
    "some execution never ends ({place} repeats), so schedules cannot be run to their end;"
    " strategies that store states can answer (--strategy auto)"
)


class IRExecution(Foresight):
    """Runs a program on the interpreter; keeps the states of the present run.

    A run that begins as the one before did begins where they part: states are tuples, so going
    back costs nothing.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.interpreter = Interpreter(program)
        footprints = Footprints(program)
        self.points = [PointTable(program, n, footprints) for n in range(len(program.threads))]
        self.visits = Visits(program, footprints)
        self.views = Views(program, self.interpreter, self.describe)
        start = program.initial_state()
        self.states: list[State] = [start]
        self.moves: list[Move] = []
        self.known = [[self.view_at(start, thread) for thread in range(len(program.threads))]]
        """For each state passed, what each thread can do there."""
        self.passed: dict[State, int] = {start: 0}
        """Where the run was first in each of its states."""
        self.returned: str | None = None
        """Where a step began that has led back to where the run had been before."""
        self.failures: list[Failed] = []
        self.stops = Stops(program)
        self._last: Decider | None = None

    @property
    def state(self) -> State:
        return self.states[-1]

    def run(self, decider: Decider) -> Ended:
        self.begin(decider)
        pending: Sequence[None] = (None,) * len(self.program.threads)
        while self.returned is None:
            enabled = [move for view in self.known[-1] for move in view.effects]
            if not enabled:
                if self.deadlocked():
                    self.failures.append(Failed(kind="deadlock", message=""))
                return Ended(failures=self.failures, pending=pending)
            try:
                move = decider.decide(pending, enabled, -1)
            except Abandon:
                return Ended(failures=self.failures, pending=pending, abandoned=True)
            self.step(move)
        limit = ENDLESS.format(place=self.returned)
        return Ended(failures=self.failures, pending=pending, abandoned=True, limit=limit)

    def begin(self, decider: Decider) -> None:
        """Stand where the prefix of a run leads."""
        prefix = decider.prefix
        self.rewind(len(prefix) if decider is self._last else 0)
        self._last = decider
        for move in prefix[len(self.moves) :]:
            self.step(move)
        self.failures = []
        decider.left(len(prefix))

    def actions(self) -> dict[int, Actions]:
        return {thread: view.actions for thread, view in enumerate(self.known[-1])}

    def step(self, move: Move) -> None:
        thread = thread_of(move)
        known = self.known[-1]
        effect = known[thread].effects[move]
        writes, state = effect.writes, effect.apply_to(self.states[-1])
        if self.passed.setdefault(state, len(self.states)) < len(self.states):
            self.returned = effect.place
        if effect.failure is not None:
            self.failures.append(replace(effect.failure, step=len(self.moves)))
        self.known.append(
            [
                view
                if writes.isdisjoint(view.reads) and other != thread
                else self.view_at(state, other)
                for other, view in enumerate(known)
            ]
        )
        self.states.append(state)
        self.moves.append(move)

    def deadlocked(self) -> bool:
        """Whether threads wait that no stopped thread could help; nobody moves here."""
        if self.program.has_ended(self.state):
            self.stops.ended_freely = True
            return False
        outcomes: set[Outcome] = set()
        for thread, view in zip(self.program.threads, self.known[-1], strict=True):
            if not thread.observer:
                outcomes |= view.outcomes
        if Outcome.STOPPED not in outcomes:
            self.stops.ended_freely |= Outcome.WAITS not in outcomes
            return Outcome.WAITS in outcomes
        if Outcome.WAITS not in outcomes and self.stops.stopped:
            return False
        found = examine_standstill(share_interpreter(self.program), self.state)
        assert found is not None
        self.stops.note(self.state, found)
        return bool(found.deadlocked)

    def rewind(self, depth: int) -> None:
        """Stand where the first `depth` steps led."""
        for position in range(depth + 1, len(self.states)):
            if self.passed.get(self.states[position]) == position:
                del self.passed[self.states[position]]
        del self.states[depth + 1 :]
        del self.known[depth + 1 :]
        del self.moves[depth:]
        self.returned = None

    def preview(self, depth: int, events: Events, thread: int) -> Actions:
        state = self.states[depth]
        for position in bits(events):
            move = self.moves[position]
            state = self.view_at(state, thread_of(move)).effects[move].apply_to(state)
        return self.view_at(state, thread).actions

    def view_at(self, state: State, thread: int) -> View:
        return self.views.of(state, thread)

    def describe(self, state: State, thread: int, steps: list[tuple[Move, Step]]) -> Actions:
        """The actions that a thread's steps in a state are, one step for each choice."""
        location = self.interpreter.location(state, thread)
        if location in (FINISHED, WRONG) and thread not in self.visits.is_written:
            return ()
        point = self.points[thread].at(location)
        also: frozenset[int] = frozenset()
        if point.may_block and len(steps) > 1:
            also = frozenset().union(*(step.footprint_reads for _, step in steps))
        found = [
            self.action(point, move, step.footprint_reads | also, step.footprint_writes)
            for move, step in steps
            if step.happened
        ]
        stuck = [step.footprint_reads for _, step in steps if not step.happened]
        if stuck:  # one attempt for all the choices with which the thread cannot move
            found.append(self.action(point, move_of(thread, STUCK), frozenset().union(*stuck)))
        return tuple(found)

    def action(
        self, point: Point, move: Move, reads: frozenset[int], writes: frozenset[int] | None = None
    ) -> Action:
        """What a step does; without `writes`, an attempt, which changes nothing."""
        thread = thread_of(move)
        return Action(
            thread=thread,
            move=move,
            reads=self.visits.reads(thread, reads),
            writes=frozenset() if writes is None else self.visits.writes(thread, writes),
            enabled=writes is not None,
            may_block=point.may_block,
            fixed=point.fixed,
            watched=self.visits.reads(thread, point.may_read),
            life=self.visits.life(thread),
        )


class Visits:
    """Who may touch whose own cells; see the module's second change of footprints."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.is_read: set[int] = set()
        self.is_written: set[int] = set()
        for number, thread in enumerate(program.threads):
            for edge in thread.edges:
                touched = footprints.of_edge(edge)
                self.is_read |= self.strangers(number, touched.reads)
                self.is_written |= self.strangers(number, touched.writes)

    def strangers(self, thread: int, addresses: frozenset[int]) -> set[int]:
        """The other threads among the owners of the cells."""
        owners = {self.program.cells[address].owner for address in addresses}
        return {owner for owner in owners if owner is not None and owner != thread}

    def public(self, addresses: frozenset[int]) -> frozenset[int]:
        cells, threads = self.program.cells, self.program.threads
        owners = ((address, cells[address].owner) for address in addresses)
        return frozenset(a if owner is None else threads[owner].counter for a, owner in owners)

    def life(self, thread: int) -> int | None:
        """The object by which others start the thread, or change what is its own."""
        return self.program.threads[thread].counter if thread in self.is_written else None

    def reads(self, thread: int, addresses: frozenset[int]) -> frozenset[int]:
        own = {self.program.threads[thread].counter} if thread in self.is_written else set()
        return self.public(addresses) | own

    def writes(self, thread: int, addresses: frozenset[int]) -> frozenset[int]:
        own = {self.program.threads[thread].counter} if thread in self.is_read else set()
        return self.public(addresses) | own


class PlainIRExecution(IRExecution):
    """Asks the interpreter for everything, again and again: what the quick one must agree with."""

    def view_at(self, state: State, thread: int) -> View:
        return Views(self.program, self.interpreter, self.describe).of(state, thread)
