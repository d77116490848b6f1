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

from mazurka.runtime.core.operations import RealOperation
from mazurka.runtime.story.effects import kind_of
from mazurka.runtime.story.story import RecordedStep
from mazurka.stateless.preemptions import choose_without_preemption
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation

MOST_RUNS = 60
MOST_SECONDS = 1.0

RunOnce = Callable[[Decider], Ended | None]
"""Runs the test; None where the run says nothing, and no further one will."""


class MovedSteps(Decider):
    """Takes recorded steps in another order, then follows a schedule as far as possible."""

    def __init__(self, steps: Sequence[RecordedStep], rest: Iterable[int]) -> None:
        self._steps = deque(steps)
        self._rest = deque(rest)

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self._steps:
            step = self._steps.popleft()
            if step.thread not in enabled or not _is_again(step, pending[step.thread]):
                raise Abandon
            return step.thread
        while self._rest:
            thread = self._rest.popleft()
            if thread in enabled:
                return thread
        return choose_without_preemption(pending, enabled, last)


def _is_again(step: RecordedStep, operation: Operation | None) -> bool:
    return isinstance(operation, RealOperation) and kind_of(operation) == step.kind


class Trials:
    """Runs of one failing test with its steps moved, as many as there is time for."""

    def __init__(self, steps: Sequence[RecordedStep], run: RunOnce) -> None:
        self.steps = steps
        self._run = run
        self._left = MOST_RUNS
        self._deadline = time.perf_counter() + MOST_SECONDS

    def passes(self, order: Sequence[int], rest: Iterable[int]) -> bool | None:
        """Say whether the test passes if it takes steps in this order, and the rest after them.

        Steps are given by their positions in the recorded run.  None stands for `not known`: the
        steps cannot be taken in this order, or there is no time left to try.
        """
        if self._left <= 0 or time.perf_counter() > self._deadline or self._renumbers(order):
            return None
        self._left -= 1
        steps = self.steps
        ended = self._run(
            MovedSteps([steps[position] for position in order], (steps[n].thread for n in rest))
        )
        if ended is None:
            self._left = 0
            return None
        if ended.abandoned or ended.limit is not None:
            return None
        return not ended.failures

    def _renumbers(self, order: Sequence[int]) -> bool:
        """Whether threads would be started in another order, and have other numbers."""
        starts = [position for position in order if self.steps[position].starts is not None]
        return starts != sorted(starts)
