"""From a schedule that fails to the simplest one that fails in the same way.

Iterative bounding has found the failure with the fewest preemptions already; random schedules have
not.  In both cases switches may be left that the failure does not need.  A schedule is taken as a
list of segments, each a thread and how long it goes.  Candidates leave segments out, or let a
thread go on where it was interrupted.  Each candidate is really run, followed as far as it is
possible; one that ends in the same failure, and is simpler, is the next to be simplified.

Many candidates come to the same: what is left out cannot be followed, and the threads do what they
have done before.  Where earlier runs tell how a candidate goes to its end, it is not run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mazurka.runtime.exploring.schedules import Segment, split_segments
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Decider, Failed, Operation, OutOfTime, Runnable

MOST_RUNS = 400
MOST_SECONDS = 2.0


@dataclass(frozen=True)
class Minimal:
    """The simplest failing schedule that was found."""

    schedule: tuple[int, ...]
    preemptions: int
    early: int
    """How many of its sleeps and timeouts end while others could move."""
    runs: int

    @property
    def weight(self) -> tuple[int, int, int, int]:
        segments = len(split_segments(self.schedule))
        return self.early, self.preemptions, segments, len(self.schedule)


def fails_alike(one: Failed, other: Failed) -> bool:
    """Whether two runs fail in the same way: kind, place, and for exceptions the type."""
    if (one.kind, one.file, one.line) != (other.kind, other.file, other.line):
        return False
    return one.kind != "exception" or one.message.split(":")[0] == other.message.split(":")[0]


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
        usual = self._preemptions.choose_free(pending, enabled, last)
        self.standing.append((tuple(enabled), usual))
        chosen = self.planned(enabled, usual)
        self._preemptions.take(pending, enabled, last, chosen)
        self.schedule.append(chosen)
        return chosen

    def planned(self, enabled: Sequence[int], usual: int) -> int:
        """Return the thread that goes on by the plan; the usual one where the plan says nothing."""
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
    def early(self) -> int:
        return self._preemptions.early

    @property
    def switches(self) -> int:
        return len(split_segments(self.schedule)) - 1


class Known:
    """The runs so far, as a tree: at each node, who can go on, and who does without a plan."""

    def __init__(self) -> None:
        self._nodes: list[tuple[tuple[int, ...], int] | None] = [None]
        """None where a run has ended."""
        self._after: dict[tuple[int, int], int] = {}
        """By node and thread: the node after a step."""

    def add(self, attempt: PlannedRun) -> None:
        node = 0
        for thread, stands in zip(attempt.schedule, attempt.standing, strict=True):
            self._nodes[node] = stands
            if (node, thread) not in self._after:
                self._after[node, thread] = len(self._nodes)
                self._nodes.append(None)
            node = self._after[node, thread]

    def holds(self, plan: Sequence[Segment]) -> bool:
        """Whether a run that follows a plan is already known."""
        attempt, node = PlannedRun(plan), 0
        while (stands := self._nodes[node]) is not None:
            after = self._after.get((node, attempt.planned(*stands)))
            if after is None:
                return False
            node = after
        return node > 0


def propose_simpler(schedule: Sequence[int]) -> Iterator[list[Segment]]:
    """Propose simpler plans, the boldest first."""
    found = split_segments(schedule)
    for position in range(len(found) - 1):
        thread, count = found[position]
        later = next((n for n in range(position + 1, len(found)) if found[n][0] == thread), None)
        if later is not None:
            merged = (thread, count + found[later][1])
            yield [*found[:position], merged, *found[position + 1 : later], *found[later + 1 :]]
            delayed = (thread, count + found[later][1])
            yield [*found[:position], *found[position + 1 : later], delayed, *found[later + 1 :]]
    for position in range(len(found) - 1):
        yield [*found[:position], *found[position + 1 :]]


def minimize(
    program: Runnable,
    failed: Failed,
    schedule: Sequence[int],
    preemptions: int,
    taken: Sequence[int] = (),
) -> Minimal:
    """Simplify until nothing simpler fails in the same way, or the effort or the time is spent.

    A schedule with fewer early timeouts is simpler than any with more.  If the first one does not
    fail, the one that the failing run has taken is simplified instead.
    """
    deadline = time.perf_counter() + MOST_SECONDS
    known = Known()
    first = PlannedRun(split_segments(schedule))
    try:
        ended = program.run(first)
    except OutOfTime:
        return Minimal(tuple(schedule), preemptions, 0, 1)
    if taken and not any(fails_alike(failed, again) for again in ended.failures):
        return minimize(program, failed, taken, preemptions)
    known.add(first)
    best = Minimal(tuple(schedule), preemptions, first.early, 1)
    runs, improved = 1, True
    while improved:
        improved = False
        for plan in propose_simpler(best.schedule):
            if runs >= MOST_RUNS or time.perf_counter() > deadline:
                return replace(best, runs=runs)
            if known.holds(plan):
                continue
            runs += 1
            attempt = PlannedRun(plan)
            try:
                ended = program.run(attempt)
            except OutOfTime:
                return replace(best, runs=runs)
            known.add(attempt)
            found = Minimal(tuple(attempt.schedule), attempt.preemptions, attempt.early, runs)
            if found.weight < best.weight and any(fails_alike(failed, f) for f in ended.failures):
                best, improved = found, True
                break
    return replace(best, runs=runs)
