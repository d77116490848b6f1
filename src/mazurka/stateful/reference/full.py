"""The unreduced search on the reference interpreter: slow, plain, and what all others must match.

Explores every reachable state breadth-first and collects every violation.  Tests compare each
strategy and the native code with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from mazurka.analysis.standstill import examine_standstill
from mazurka.analysis.stops import Stops
from mazurka.ir.interpreter import FaultReport, Interpreter, State, Step
from mazurka.ir.program import DEAD_ENDS, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.ir.symmetry import CanonicalInterpreter, Symmetry
from mazurka.search import Move
from mazurka.search.races import races_between
from mazurka.stateful.hangs import examine_quiet
from mazurka.stateful.reference.hangs import find_hangs


@dataclass
class StateSpace:
    """Everything that can happen in a program."""

    states: dict[State, tuple[State, Move] | None] = field(default_factory=dict)
    """Every reachable state, in order of discovery, with where it came from."""
    transitions: int = 0
    faults: list[tuple[State, Move, FaultReport]] = field(default_factory=list)
    deadlocks: list[State] = field(default_factory=list)
    races: list[tuple[State, Move, Move, int]] = field(default_factory=list)
    """State, the two moves, and the address they collide on."""
    hangs: list[State] = field(default_factory=list)
    """One state of each, where they were asked for."""
    stops: Stops | None = field(default=None, compare=False)
    """The states in which nobody moves because of an assumption."""
    complete: bool = True

    @property
    def kinds(self) -> set[str]:
        """The kinds of violation that are reachable, `bound` among them."""
        found = {str(report.fault) for _, _, report in self.faults}
        if self.deadlocks:
            found.add("deadlock")
        if self.races:
            found.add("race")
        if self.hangs:
            found.add("hang")
        return found

    def path_to(self, state: State) -> list[Move]:
        moves: list[Move] = []
        origin = self.states[state]
        while origin is not None:
            state, move = origin
            moves.append(move)
            origin = self.states[state]
        return moves[::-1]


def explore(
    program: Program,
    *,
    races: bool = True,
    hangs: bool = False,
    limit: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    symmetry: Symmetry | None = None,
) -> StateSpace:
    """Visit all states of a program, or the first `limit` of them, or until `stop` says so.

    With a symmetry only canonical states are visited: one of each set of renamings.
    """
    interpreter: Interpreter = share_interpreter(program)
    if symmetry is not None:
        interpreter = CanonicalInterpreter(interpreter, symmetry)
    found = StateSpace(stops=Stops(program))
    start = program.initial_state()
    found.states[start] = None
    queue: deque[State] = deque([start])
    while queue:
        if stop():
            found.complete = False
            return found
        state = queue.popleft()
        moved: list[tuple[Move, Step]] = []
        for choice, step in interpreter.steps(state):
            if not step.happened:
                continue
            move = Move(step.thread, choice)
            moved.append((move, step))
            found.transitions += 1
            if step.fault is not None:
                found.faults.append((state, move, step.fault))
                if is_dead_end(step):
                    continue
            if step.state not in found.states:
                if limit is not None and len(found.states) >= limit:
                    found.complete = False
                    return found
                found.states[step.state] = (state, move)
                queue.append(step.state)
        if all(program.threads[step.thread].observer for _, step in moved):
            note_end(found, interpreter, state)
        if races:
            found.races.extend(
                (state, first, second, address)
                for first, second, address in races_between(program, moved)
            )
    if hangs:
        look_for_hangs(program, found, symmetry)
    return found


def look_for_hangs(program: Program, found: StateSpace, symmetry: Symmetry | None) -> None:
    """Look for hangs, and for what would be one without assumptions, among all states."""
    assert found.stops is not None
    plain = share_interpreter(program)
    quiet = (
        find_hangs(program, found.states)
        if symmetry is None
        else [
            (state, each)
            for state in found.states
            if (each := examine_quiet(plain, state)) is not None
        ]
    )
    for state, each in quiet:
        if each.hanging:
            found.hangs.append(state)
        found.stops.note_quiet(state, each.stopped, excused=each.is_excused)


def note_end(found: StateSpace, interpreter: Interpreter, state: State) -> None:
    """Look at a state in which nobody moves."""
    end = examine_standstill(interpreter, state)
    assert end is not None
    assert found.stops is not None
    if end.deadlocked:
        found.deadlocks.append(state)
    found.stops.note(state, end)


def is_dead_end(step: Step) -> bool:
    """Whether nothing can follow a step, which has failed on its way."""
    return step.fault is not None and step.fault.fault in DEAD_ENDS
