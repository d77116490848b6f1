"""Which violation is reported by a search that expands a level in no particular order.

A level is completed before anything is reported, and of all that it contains the violation with the
shortest schedule counts, and of these the one that comes first by kind, state and move.  So what is
reported does not depend on who was faster; only which of several shortest schedules leads to the
state may.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mazurka.deadline import last_moment
from mazurka.search import SearchResult, Violation
from mazurka.stateful.searches.conduct import Conductor

Rank = tuple[int, str, tuple[int, ...], int, int]
"""What decides between violations of one level: the length of the schedule, the kind, the state,
the thread and its choice."""


class LevelConductor(Conductor):
    """Keeps the violation that ranks first until the level that contains it has been completed."""

    rank: Rank
    """The rank of the finding that is looked at."""
    best: tuple[Rank, Callable[[], Violation]] | None = None

    def record_violation(self, make: Callable[[], Violation]) -> bool:
        if self.best is None or self.rank < self.best[0]:
            self.best = self.rank, make
        return False

    def settle(self) -> bool:
        """Report what the level contains; whether the search is over."""
        if self.best is None:
            return False
        make, self.best = self.best[1], None
        return super().record_violation(make)

    def run(self, search_slice: Callable[[int], bool]) -> SearchResult:
        result = super().run(search_slice)
        if result.violation is None and self.best is not None:  # its level was cut short
            with last_moment():
                return replace(result, violation=self.best[1](), notes=())
        return result
