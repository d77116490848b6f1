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
(`mazurka.stateless.fixed_points`).  States are plain tuples, so rewinding costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.ir.footprints import Footprints
from mazurka.ir.interpreter import FaultReport, Interpreter, Outcome, State, Step
from mazurka.ir.program import DEAD_ENDS, FINISHED, WRONG, Program
from mazurka.stateless.execution import Action, Failure, Move
from mazurka.stateless.fixed_points import Point, PointTable

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
        self.states: list[State] = [program.initial_state()]
        self.known: list[dict[int, Actions]] = [{}]
        """For each state passed, the actions worked out there or carried over unchanged."""

    @property
    def state(self) -> State:
        return self.states[-1]

    def threads(self) -> Sequence[int]:
        return range(len(self.program.threads))

    def next_actions(self, thread: int) -> Actions:
        known = self.known[-1]
        if thread not in known:
            known[thread] = self.actions_at(self.state, thread)
        return known[thread]

    def step(self, move: Move) -> Failure | None:
        taken = next(a for a in self.next_actions(move.thread) if a.move == move and a.enabled)
        step = self.interpreter.step(self.state, *move)
        self.known.append(
            {
                thread: actions
                for thread, actions in self.known[-1].items()
                if thread != move.thread
                and all(taken.writes.isdisjoint(action.reads) for action in actions)
            }
        )
        self.states.append(step.state)
        return _failure(step.fault)

    def deadlocked(self) -> bool:
        waiting = False
        for number, thread in enumerate(self.program.threads):
            if thread.observer:
                continue
            for choice in range(self.interpreter.choices(self.state, number)):
                outcome = self.interpreter.step(self.state, number, choice).outcome
                if outcome not in (Outcome.WAITS, Outcome.FINISHED, Outcome.INVALID):
                    return False
                waiting |= outcome is Outcome.WAITS
        return waiting

    def rewind(self, depth: int) -> None:
        del self.states[depth + 1 :]
        del self.known[depth + 1 :]

    def preview(self, depth: int, moves: Sequence[Move], thread: int) -> Actions:
        state = self.states[depth]
        for move in moves:
            step = self.interpreter.step(state, *move)
            assert step.happened, "a preview follows moves that exist"
            state = step.state
        return self.actions_at(state, thread)

    def actions_at(self, state: State, thread: int) -> Actions:
        location = self.interpreter.location(state, thread)
        if location in (FINISHED, WRONG) and thread not in self.visits.is_written:
            return ()
        point = self.points[thread].at(location)
        steps: list[tuple[Move, Step]] = []
        for choice in range(self.interpreter.choices(state, thread)):
            step = self.interpreter.step(state, thread, choice)
            if step.outcome is not Outcome.INVALID:
                steps.append((Move(thread, choice), step))
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


def _failure(report: FaultReport | None) -> Failure | None:
    if report is None:
        return None
    unfinished = report.fault in DEAD_ENDS
    return Failure(str(report.fault), report.message, str(report.span), unfinished)
