"""Schedules: the thread of each step.  Follow one, or divide it into segments."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.errors import MazurkaError
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Decider, Operation


class UnfollowableError(MazurkaError):
    """A schedule that the program does not follow any more."""


class Follow(Decider):
    """Follows a schedule step by step; after its end nobody is preempted."""

    def __init__(self, schedule: Sequence[int] = ()) -> None:
        self._schedule = schedule
        self._steps = 0
        self._preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        chosen = self._choose(pending, enabled, last)
        self._preemptions.take(pending, enabled, last, chosen)
        return chosen

    def _choose(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> int:
        if self._steps >= len(self._schedule):
            return self._preemptions.choose_free(pending, enabled, last)
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


def split_segments(schedule: Sequence[int]) -> list[Segment]:
    """Divide a schedule where another thread goes on."""
    found: list[Segment] = []
    for thread in schedule:
        if found and found[-1][0] == thread:
            found[-1] = (thread, found[-1][1] + 1)
        else:
            found.append((thread, 1))
    return found
