"""The four mover properties of paper 000, section 3, by brute force over the unreduced system.

For threads t ≠ u, a step of t that is claimed to be a right mover (RM) or a left mover (LM), and
any step of u:

1. after RM of t comes u: u can go first, and t then still makes a right mover to the same state;
2. after u comes RM of t: if t could go before u, that would have been a right mover, too;
3. after u comes LM of t: t can go first, by a left mover, and u then gets to the same state;
4. LM of t is possible before u: it is possible after u, and a left mover.

The paper's steps are functions of the state; ours are for each of a thread's choices, and a moved
step is one with the same choice.  A moved step that goes wrong fulfils a property, unless it fails
an assertion: all other faults are reported whatever is asked for, so nothing is lost by moving
there (`mazurka.analysis.laws`).  For the same reason a right mover that goes wrong in this way need
not move: an execution that ends with it is enough.

A put or a get may have had to wait for u, so property 3 asks for less of it: only if it was
possible before u must it be a left mover there.  This is enough, as a search moves a step to the
left only from a state in which it was possible (`mazurka.analysis.queue_movers`).

In the paper all threads are there from the beginning.  Here u may create t, and the first step of
t cannot go before that; property 3 does not ask for it.  A left mover is moved back no further
than to the step of its own thread that it follows, so a thread's first step need not move at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from mazurka.analysis.discipline import Broken, Discipline
from mazurka.analysis.laws import Law, Mover
from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import DEAD_ENDS, IDLE, Fault, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import Move
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.variants import Completion


@dataclass(frozen=True)
class Moved:
    """A possible step and how it is said to move."""

    step: Step
    mover: Mover

    @property
    def is_reported(self) -> bool:
        return self.step.fault is not None and self.step.fault.fault is not Fault.ASSERT

    @property
    def goes_on(self) -> bool:
        return self.step.fault is None or self.step.fault.fault not in DEAD_ENDS


Steps: TypeAlias = dict[Move, Moved]


@dataclass
class MoverTable:
    """All steps of the unreduced system with their movers."""

    discipline: Discipline
    states: Iterable[State]
    steps: dict[State, Steps] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.interpreter = share_interpreter(self.discipline.program)
        self.discipline = deepcopy(self.discipline)
        for state in self.states:
            for _, step in self.interpreter.steps(state):
                self._look(state, step)
        for state in self.states:
            self.steps[state] = {
                Move(step.thread, choice): Moved(step, self.discipline.mover(state, step))
                for choice, step in self.interpreter.steps(state)
                if step.happened
            }

    def _look(self, state: State, step: Step) -> None:
        """Check the discipline, too.  `Broken`, if raised, passes through: then what holds for the
        reduced system does not hold for all of it.

        Not so where a thread merely waits in an atomic section for a lock to become free.  Its
        holder may be in a transaction of right movers that never commits, and the reduced system
        does not get there: it has put the transaction off for good.
        """
        movable = list(self.discipline.movable)
        try:
            self.discipline.mover(state, step)
        except Broken as broken:
            if step.happened or self.discipline.laws[broken.cell] is not Law.LOCK:
                raise
            self.discipline.movable = movable

    def violations(self) -> Iterator[str]:
        """What is wrong: property, state and moves."""
        for state, steps in self.steps.items():
            for move, moved in steps.items():
                if not moved.goes_on:
                    continue
                for number, other in self._broken(state, move):
                    yield f"property {number} at {state}: {move} beside {other}"

    def _broken(self, state: State, first: Move) -> Iterator[tuple[int, Move]]:
        """The properties that fail for a move from a state and one of another thread."""
        steps = self.steps[state]
        following = self.steps[steps[first].step.state]
        for second, then in following.items():
            if second.thread == first.thread:
                continue
            swapped = partial(self._swapped, steps, first, second, then)
            right = steps[first].mover & Mover.RIGHT and not steps[first].is_reported
            if right and not swapped(Mover.RIGHT):
                yield 1, second
            if then.mover & Mover.RIGHT and not _is(steps.get(second), Mover.RIGHT, absent=True):
                yield 2, second
            idle = self.interpreter.location(state, second.thread) == IDLE
            waited = second not in steps and self._uses_queue(then)
            if then.mover & Mover.LEFT and not (idle or waited or swapped(Mover.LEFT)):
                yield 3, second
        for other, earlier in steps.items():
            moves = other.thread != first.thread and earlier.mover & Mover.LEFT
            if moves and not _is(following.get(other), Mover.LEFT, absent=False):
                yield 4, other

    def _uses_queue(self, moved: Moved) -> bool:
        return any(self.discipline.laws[cell] is Law.QUEUE for cell in moved.step.footprint_writes)

    def _swapped(self, steps: Steps, first: Move, second: Move, then: Moved, mover: Mover) -> bool:
        """Whether the moves can change places: as properties 1 (RIGHT) and 3 (LEFT) ask."""
        earlier = steps.get(second)
        if earlier is None:
            return False
        if earlier.is_reported:
            return True
        later = self.steps[earlier.step.state].get(first)
        if later is None:
            return False
        if later.is_reported:
            return True
        claimed = later if mover is Mover.RIGHT else earlier
        return later.step.state == then.step.state and bool(claimed.mover & mover)


def _is(moved: Moved | None, mover: Mover, *, absent: bool) -> bool:
    if moved is None:
        return absent
    return moved.is_reported or bool(moved.mover & mover)


def table(program: Program) -> MoverTable:
    """The movers under the discipline that a reduced search has found to hold."""
    whole = explore(program, races=False)
    done, _ = explore_transactions(program, Completion.COMMIT_POINTS)
    return MoverTable(done.discipline, list(whole.states))


def movers_by_line(movers: MoverTable) -> dict[int, set[Mover]]:
    program, found = movers.discipline.program, dict[int, set[Mover]]()
    for steps in movers.steps.values():
        for moved in steps.values():
            line = program.edges[moved.step.edges[0]].span.line
            found.setdefault(line, set()).add(moved.mover)
    return found
