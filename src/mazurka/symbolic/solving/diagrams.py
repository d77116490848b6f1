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
        self._send(REACH, problem.to_numbers())
        lasso = None
        while True:
            command, numbers = self._hear()
            if command == PROGRESS:
                tell(ReachProgress(*numbers))
                self._send(PROGRESS, [1])
            elif command == FOUND:
                goes_on = report(_read_target(numbers, problem.inputs))
                self._send(PROGRESS, [int(goes_on)])
                if not goes_on:
                    return None
            elif command == LASSO:
                lasso = LassoFrames(_read_frames(numbers, problem.inputs), numbers[0])
                self._send(PROGRESS, [1])
            else:
                return AllStates(int("".join(map(str, numbers[1:]))), numbers[0], lasso)


def _read_target(numbers: array[int], inputs: int) -> TargetFound:
    return TargetFound(numbers[0], _read_frames(numbers, inputs))


def _read_frames(numbers: array[int], inputs: int) -> list[tuple[int, list[int]]]:
    """The frames behind the first number, each a part and its inputs."""
    return [
        (numbers[start], list(numbers[start + 1 : start + 1 + inputs]))
        for start in range(1, len(numbers), 1 + inputs)
    ]
