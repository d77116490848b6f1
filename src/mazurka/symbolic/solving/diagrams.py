"""Decision diagrams in another process, from the side of who uses them.

Operations of CUDD cannot be interrupted, and take what memory they need: so they run in a process
of their own, which is killed when a limit is reached or the user presses Ctrl-C.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

from mazurka.symbolic.solving.fair_cycles import LassoFrames
from mazurka.symbolic.solving.process import FOUND, LASSO, PROGRESS, REACH
from mazurka.symbolic.solving.reachability import ReachProblem, ReachProgress
from mazurka.symbolic.solving.solver import Solver


class TargetFound(NamedTuple):
    """A target can hold: the parts of the relation and the inputs that lead there; the last frame
    is that of the target, and has part -1."""

    target: int
    frames: list[tuple[int, list[int]]]


class AllStates(NamedTuple):
    """All reachable states have been found."""

    states: int
    passes: int
    lasso: LassoFrames | None = None
    """A fair cycle, and a way there, where one was looked for and found."""


class DiagramSolver(Solver):
    """Finds the reachable states of a transition system."""

    def reach(
        self,
        problem: ReachProblem,
        tell: Callable[[ReachProgress], None],
        report: Callable[[TargetFound], bool],
    ) -> AllStates | None:
        """Find them; `report` hears of each target that can hold, and says whether to go on.  None
        where it has said no."""
        self.begin(problem, tell, report)
        while not self.is_over:
            self._take(self._hear())
        return self.found

    def begin(
        self,
        problem: ReachProblem,
        tell: Callable[[ReachProgress], None],
        report: Callable[[TargetFound], bool],
    ) -> None:
        """The same for who does not wait: `listen` now and then, until it is over."""
        self.inputs, self.tell, self.report = problem.inputs, tell, report
        self.lasso: LassoFrames | None = None
        self.found: AllStates | None = None
        self.is_over = False
        self._send(REACH, problem.to_numbers())

    def listen(self) -> None:
        """Hear what has been said meanwhile."""
        while not self.is_over and self._process.has_answered(0.0):
            self._take(self._process.read_answer())

    def _take(self, message: tuple[bytes, array[int]]) -> None:
        """Hear a message, and answer it."""
        command, numbers = message
        if command == PROGRESS:
            self.tell(ReachProgress(*numbers))
            self._send(PROGRESS, [1])
        elif command == FOUND:
            goes_on = self.report(_read_target(numbers, self.inputs))
            self._send(PROGRESS, [int(goes_on)])
            self.is_over = not goes_on
        elif command == LASSO:
            self.lasso = LassoFrames(_read_frames(numbers, self.inputs), numbers[0])
            self._send(PROGRESS, [1])
        else:
            states = int("".join(map(str, numbers[1:])))
            self.found, self.is_over = AllStates(states, numbers[0], self.lasso), True


def _read_target(numbers: array[int], inputs: int) -> TargetFound:
    return TargetFound(numbers[0], _read_frames(numbers, inputs))


def _read_frames(numbers: array[int], inputs: int) -> list[tuple[int, list[int]]]:
    """The frames behind the first number, each a part and its inputs."""
    return [
        (numbers[start], list(numbers[start + 1 : start + 1 + inputs]))
        for start in range(1, len(numbers), 1 + inputs)
    ]
