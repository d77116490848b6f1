"""A program in the intermediate representation as an `Execution`, on the reference interpreter.

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

Whether a point of a thread's life is *fixed* is decided from the edges alone
(`mazurka.stateless.fixed_points`).  States are plain tuples, so rewinding costs nothing, and what a
thread does is worked out once for all states that look the same to it
(`mazurka.stateless.views`).
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import FINISHED, WRONG, Program
from mazurka.ir.values.footprints import Footprints
from mazurka.stateless.execution import Action, Failure, Move
from mazurka.stateless.fixed_points import Point, PointTable
from mazurka.stateless.views import View, Views

Actions = tuple[Action, ...]

STUCK = -1
"""The choice that an attempt names: none of those there are."""


class IRExecution:
    """Runs a program on the interpreter; keeps the states it came through."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.interpreter = Interpreter(program)
        footprints = Footprints(program)
        self.points = [PointTable(program, n, footprints) for n in range(len(program.threads))]
        self.visits = _Visits(program, footprints)
        self.views = Views(program, self.interpreter, self.describe)
        start = program.initial_state()
        self.states: list[State] = [start]
        self.known: list[dict[int, View]] = [{}]
        """For each state passed, the views worked out there or carried over unchanged."""
        self.passed: dict[State, int] = {start: 0}
        """Where the run was first in each of its states."""
        self.returned: str | None = None

    @property
    def state(self) -> State:
        return self.states[-1]

    def threads(self) -> Sequence[int]:
        return range(len(self.program.threads))

    def next_actions(self, thread: int) -> Actions:
        return self.view(thread).actions

    def view(self, thread: int) -> View:
        known = self.known[-1]
        view = known.get(thread)
        if view is None:
            view = known[thread] = self.view_at(self.states[-1], thread)
        return view

    def step(self, move: Move) -> Failure | None:
        effect = self.view(move.thread).effects[move]
        known, writes = self.known[-1], effect.writes
        kept = {thread: view for thread, view in known.items() if writes.isdisjoint(view.reads)}
        kept.pop(move.thread, None)
        state = effect.applied(self.states[-1])
        if self.passed.setdefault(state, len(self.states)) < len(self.states):
            self.returned = effect.place
        self.known.append(kept)
        self.states.append(state)
        return effect.failure

    def endless(self) -> str | None:
        return self.returned

    def deadlocked(self) -> bool:
        outcomes: set[Outcome] = set()
        for number, thread in enumerate(self.program.threads):
            if not thread.observer:
                outcomes |= self.view(number).outcomes
        return Outcome.WAITS in outcomes and outcomes <= {Outcome.WAITS, Outcome.FINISHED}

    def rewind(self, depth: int) -> None:
        for position in range(depth + 1, len(self.states)):
            if self.passed.get(self.states[position]) == position:
                del self.passed[self.states[position]]
        del self.states[depth + 1 :]
        del self.known[depth + 1 :]
        self.returned = None

    def preview(self, depth: int, moves: Sequence[Move], thread: int) -> Actions:
        state = self.states[depth]
        for move in moves:
            state = self.view_at(state, move.thread).effects[move].applied(state)
        return self.view_at(state, thread).actions

    def view_at(self, state: State, thread: int) -> View:
        return self.views.of(state, thread)

    def actions_at(self, state: State, thread: int) -> Actions:
        return self.view_at(state, thread).actions

    def describe(self, state: State, thread: int, steps: list[tuple[Move, Step]]) -> Actions:
        """The actions that a thread's steps in a state are, one step for each choice."""
        location = self.interpreter.location(state, thread)
        if location in (FINISHED, WRONG) and thread not in self.visits.is_written:
            return ()
        point = self.points[thread].at(location)
        also: frozenset[int] = frozenset()
        if point.may_block and len(steps) > 1:
            also = frozenset().union(*(step.footprint_reads for _, step in steps))
        found = [self.action(point, step, move, also) for move, step in steps if step.happened]
        stuck = [step for _, step in steps if not step.happened]
        return (*found, self.attempt(point, thread, stuck)) if stuck else tuple(found)

    def attempt(self, point: Point, thread: int, stuck: list[Step]) -> Action:
        """One attempt for all the choices with which the thread cannot move."""
        read: frozenset[int] = frozenset().union(*(step.footprint_reads for step in stuck))
        return Action(
            move=Move(thread, STUCK),
            kind=point.kind,
            reads=self.visits.reads(thread, read),
            writes=frozenset(),
            enabled=False,
            may_block=point.may_block,
            fixed=point.fixed,
            watched=self.visits.reads(thread, point.may_read),
            life=self.visits.life(thread),
        )

    def action(self, point: Point, step: Step, move: Move, also: frozenset[int]) -> Action:
        thread = move.thread
        return Action(
            move=move,
            kind=str(self.program.edges[step.edges[0]].kind),
            reads=self.visits.reads(thread, step.footprint_reads | also),
            writes=self.visits.writes(thread, step.footprint_writes),
            may_block=point.may_block,
            fixed=point.fixed,
            watched=self.visits.reads(thread, point.may_read),
            life=self.visits.life(thread),
        )


class _Visits:
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

    def public(self, thread: int, addresses: frozenset[int]) -> frozenset[int]:
        cells, threads = self.program.cells, self.program.threads
        own: set[int] = set()
        for address in addresses:
            owner = cells[address].owner
            own.add(address if owner is None else threads[owner].counter)
        return frozenset(own)

    def life(self, thread: int) -> int | None:
        """The object by which others start the thread, or change what is its own."""
        return self.program.threads[thread].counter if thread in self.is_written else None

    def reads(self, thread: int, addresses: frozenset[int]) -> frozenset[int]:
        own = {self.program.threads[thread].counter} if thread in self.is_written else set()
        return self.public(thread, addresses) | own

    def writes(self, thread: int, addresses: frozenset[int]) -> frozenset[int]:
        own = {self.program.threads[thread].counter} if thread in self.is_read else set()
        return self.public(thread, addresses) | own


class PlainIRExecution(IRExecution):
    """Asks the interpreter for everything, again and again: what the quick one must agree with."""

    def view_at(self, state: State, thread: int) -> View:
        return Views(self.program, self.interpreter, self.describe).of(state, thread)
