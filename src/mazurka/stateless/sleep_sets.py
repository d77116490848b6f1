"""Sleep sets alone: every enabled thread is explored everywhere, except what sleeps.

Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS 1032, chapter
5). Theorem: of every Mazurkiewicz trace exactly one execution is completed.  Sleep sets avoid
executions, not states: more runs may be given up than are completed.  `EverySchedule` runs
every schedule, which is what all others are measured by.

Choices: a sleeping entry is a move, a thread together with its choice.
"""

from __future__ import annotations

from mazurka.stateless.execution import Action
from mazurka.stateless.search import ScheduleSearch


class SleepSets(ScheduleSearch):
    def choose(self, position: int) -> Action | None:
        return next(iter(self.nodes[position].awake()), None)

    def look_back(self) -> None:
        """Everything is explored anyway."""


class EverySchedule(SleepSets):
    """All schedules, one by one."""

    uses_sleep_sets = False
