"""Run a failing test once more with some of its steps moved: does it still fail?

What a failure is due to cannot be read off one run.  But a run is cheap, so the question can be
asked: if these steps of a thread came earlier, or those of another one later, would the test pass?
The steps up to the last one that was moved have to be the recorded ones, each with the same
operation at the same place; otherwise the question has no answer.  What comes after them follows
the recorded schedule as far as it is possible.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from mazurka.runtime.core.operations import RealOperation
from mazurka.runtime.story.effects import kind_of
from mazurka.runtime.story.story import RecordedStep
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation

MOST_RUNS = 120
MOST_SECONDS = 1.0
MOST_STEPS = 100
"""How many more steps than recorded a thread may take on its way to a goal."""

RunOnce = Callable[[Decider], Ended | None]
"""Runs the test; None where that cannot be done."""


class Goal:
    """A thread goes on until it has taken such steps as the last of these, as often as they do."""

    def __init__(self, steps: Sequence[RecordedStep]) -> None:
        self.thread = steps[-1].thread
        self._kind = steps[-1].kind
        self._left = sum(step.kind == self._kind for step in steps)
        self._most = MOST_STEPS + len(steps)

    @property
    def is_reached(self) -> bool:
        return self._left <= 0 or self._most <= 0

    def take(self, operation: Operation | None) -> None:
        self._most -= 1
        if isinstance(operation, RealOperation) and kind_of(operation) == self._kind:
            self._left -= 1


class MovedSteps(Decider):
    """Takes recorded steps in another order, then follows a schedule as far as possible.

    Between the two, threads go on to goals, one after the other, each as far as it can.
    """

    def __init__(
        self, steps: Sequence[RecordedStep], goals: Sequence[Goal], rest: Iterable[int]
    ) -> None:
        self._steps = deque(steps)
        self._goals = deque(goals)
        self._rest = deque(rest)
        self._preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        chosen = self._choose(pending, enabled, last)
        self._preemptions.take(pending, enabled, last, chosen)
        return chosen

    def _choose(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> int:
        if self._steps:
            step = self._steps.popleft()
            if step.thread not in enabled or not _is_again(step, pending[step.thread]):
                raise Abandon
            return step.thread
        while self._goals:
            goal = self._goals[0]
            if goal.thread in enabled and not goal.is_reached:
                goal.take(pending[goal.thread])
                return goal.thread
            self._goals.popleft()
        while self._rest:
            thread = self._rest.popleft()
            if thread in enabled:
                return thread
        return self._preemptions.choose_free(pending, enabled, last)


def _is_again(step: RecordedStep, operation: Operation | None) -> bool:
    return isinstance(operation, RealOperation) and kind_of(operation) == step.kind


class Trials:
    """Runs of one failing test with its steps moved, as many as there is time for."""

    def __init__(self, steps: Sequence[RecordedStep], run: RunOnce) -> None:
        self.steps = steps
        self._run = run
        self._left = MOST_RUNS
        self._deadline = time.perf_counter() + MOST_SECONDS

    def passes(
        self, order: Sequence[int], rest: Iterable[int], goals: Iterable[int] = ()
    ) -> bool | None:
        """Say whether the test passes if it takes steps in this order, and the rest after them.

        Steps are given by their positions in the recorded run.  Those among the `goals` may be
        others by then; their threads go on as far as they did.  None stands for `not known`: the
        steps cannot be taken in this order, or there is no time left to try.
        """
        if self._left <= 0 or time.perf_counter() > self._deadline or self._renumbers(order):
            return None
        self._left -= 1
        steps = self.steps
        ended = self._run(
            MovedSteps(
                [steps[position] for position in order],
                [
                    Goal(list(found))
                    for _, found in groupby((steps[n] for n in goals), attrgetter("thread"))
                ],
                (steps[n].thread for n in rest),
            )
        )
        if ended is None or ended.abandoned or ended.limit is not None:
            return None
        return not ended.failures

    def _renumbers(self, order: Sequence[int]) -> bool:
        """Whether threads would be started in another order, and have other numbers."""
        starts = [position for position in order if self.steps[position].starts is not None]
        return starts != sorted(starts)
