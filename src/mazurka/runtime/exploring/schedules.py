"""Deciders that follow a schedule: exactly, or as far as it goes."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.errors import MazurkaError
from mazurka.stateless.preemptions import Preemptions, runs_on
from mazurka.stateless.runs import Decider, Operation


class UnfollowableError(MazurkaError):
    """A schedule that the program does not follow any more."""


class Follow(Decider):
    """Follows a schedule step by step; after its end nobody is preempted."""

    def __init__(self, schedule: Sequence[int] = ()) -> None:
        self._schedule = schedule
        self._steps = 0

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self._steps >= len(self._schedule):
            return runs_on(pending, enabled, last)
        chosen = self._schedule[self._steps]
        self._steps += 1
        if chosen not in enabled:
            raise UnfollowableError(
                f"step {self._steps} of a schedule cannot be repeated: thread {chosen} cannot go on"
                " there now; the program does not do the same again"
            )
        return chosen


Segment = tuple[int, int]
"""A thread, and how many steps it goes."""


def segments(schedule: Sequence[int]) -> list[Segment]:
    found: list[Segment] = []
    for thread in schedule:
        if found and found[-1][0] == thread:
            found[-1] = (thread, found[-1][1] + 1)
        else:
            found.append((thread, 1))
    return found


class PlannedRun(Decider):
    """Follows segments as far as they are possible, and notes what was really done."""

    def __init__(self, plan: Sequence[Segment]) -> None:
        self._plan = list(plan)
        self._left = 0
        self._current = -1
        self._next = 0
        self.schedule: list[int] = []
        self.standing: list[tuple[tuple[int, ...], int]] = []
        """Before each step: who could go on, and who would have without a plan."""
        self._preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        usual = runs_on(pending, enabled, last)
        self.standing.append((tuple(enabled), usual))
        chosen = self.planned(enabled, usual)
        self._preemptions.take(pending, enabled, last, chosen)
        self.schedule.append(chosen)
        return chosen

    def planned(self, enabled: Sequence[int], usual: int) -> int:
        """The thread of the plan that goes on now; the usual one where the plan says nothing."""
        while True:
            if self._left > 0 and self._current in enabled:
                self._left -= 1
                return self._current
            if self._next == len(self._plan):
                return usual
            self._current, self._left = self._plan[self._next]
            self._next += 1

    @property
    def preemptions(self) -> int:
        return self._preemptions.count

    @property
    def switches(self) -> int:
        return len(segments(self.schedule)) - 1
