"""Where the steps of an execution are, for people whose test is too large to be explored.

A search that ends at a limit says how far it has come, which does not say what to do.  What makes
an execution long is mostly a few lines: a loop, or a module that does much before its threads meet.
One more run, in which nobody is preempted, counts the steps by the lines that they come from.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence

from mazurka.report.words import counted
from mazurka.runtime.core.sites import site_of
from mazurka.runtime.story.paths import short_path
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation

MOST_STEPS = 100_000
MOST_FILES = 2
MOST_LINES = 3


class StepCount(Decider):
    """Preempts nobody, and counts the steps of each line."""

    def __init__(self) -> None:
        self.files: dict[str, Counter[int]] = {}
        """By file and line."""
        self.steps = 0
        self._preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self.steps >= MOST_STEPS:
            raise Abandon
        site = site_of(sys._getframe(1))  # of the thread that has come to its next step just now
        if site is not None and last >= 0:
            self.files.setdefault(site.file, Counter())[site.line] += 1
        self.steps += 1
        chosen = self._preemptions.choose_free(pending, enabled, last)
        self._preemptions.take(pending, enabled, last, chosen)
        return chosen

    def tell(self) -> str:
        """`an execution has 412 steps: 380 in cache.py (lines 83, 90, 101), 20 in test_cache.py`"""
        busiest = sorted(self.files.items(), key=lambda pair: -pair[1].total())[:MOST_FILES]
        return f"an execution without preemptions has {counted(self.steps, 'step')}: " + ", ".join(
            _describe(file, lines) for file, lines in busiest
        )


def _describe(file: str, lines: Counter[int]) -> str:
    found = sorted(line for line, _ in lines.most_common(MOST_LINES))
    more = "mostly " if len(lines) > len(found) else ""
    word = "line" if len(found) == 1 else "lines"
    listed = ", ".join(map(str, found))
    return f"{lines.total():,} in {short_path(file)} ({more}{word} {listed})"


def describe_busiest(run: Callable[[Decider], Ended | None]) -> str | None:
    """Run a test once, and say which lines most of its steps come from; None where it cannot."""
    count = StepCount()
    run(count)
    return count.tell() if count.files else None
