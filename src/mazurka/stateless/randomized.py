"""Random schedules, for tests too large to be searched: nothing is ever claimed to be complete.

`random`: at each point one of the threads that can go on, each with the same chance.

`pct`: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, *A Randomized Scheduler with
Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010.  Threads have random priorities, and the one
with the highest goes on.  At d − 1 steps, chosen beforehand among the first k, the thread that
would go on falls to a priority below all others.  A failure of depth d is found in each run with a
probability of at least 1/(n·k^(d−1)), for n threads and k steps.

Deviations: k is the length of the longest run so far, and the first run makes no change; a thread
that begins later gets a priority at a random place among the others; a thread that gives way falls
to the lowest priority, so that a thread which waits for another one in a loop does not keep it from
going on.
"""

from __future__ import annotations

import random
import time
from abc import abstractmethod
from collections.abc import Sequence

from mazurka.errors import OptionError
from mazurka.stateless.explored import (
    INTERRUPTED,
    TIME,
    Explored,
    Failing,
    Level,
    Progress,
    RunOptions,
)
from mazurka.stateless.preemptions import Preemptions, gives_way
from mazurka.stateless.runs import Abandon, Decider, Operation, OutOfTime, Runnable

DEPTH = 3


class RandomSchedules(Decider):
    """Runs a program under schedules drawn from a seed; a `Decider`."""

    def __init__(
        self,
        program: Runnable,
        seed: int,
        options: RunOptions | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.program = program
        self.seed = seed
        self.chance = random.Random(seed)
        self.options = options or RunOptions()
        self.progress = progress
        self.explored = Explored()
        self.schedule: list[int] = []
        self.preemptions = Preemptions()
        self._error: BaseException | None = None

    @abstractmethod
    def pick(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        """Choose who goes on."""

    @abstractmethod
    def begin(self) -> None:
        """Draw what is decided before a run begins."""

    def sample(self, runs: int) -> Explored:
        """Run the program so often, or less if a limit or the first failure comes before."""
        begun, explored, reported = time.perf_counter(), self.explored, 0.0
        level = Level(bound=None)
        explored.levels.append(level)
        for _ in range(runs):
            self.run_once()
            now = time.perf_counter()
            explored.seconds = level.seconds = now - begun
            level.executions, level.failures = explored.executions, len(explored.failures)
            if self.progress is not None and now - reported >= self.options.report_every:
                reported = now
                self.progress(explored)
            limit = self.options.limit_seconds
            if limit is not None and explored.seconds > limit:
                explored.limit(TIME)
            if explored.limits or (self.options.stop_at_first and explored.failures):
                break
        return explored

    def run_once(self) -> None:
        self.schedule.clear()
        self.preemptions, self._error = Preemptions(), None
        self.begin()
        try:
            end = self.program.run(self)
        except KeyboardInterrupt:
            self.explored.limit(INTERRUPTED)
            return
        except OutOfTime:
            self.explored.limit(TIME)
            return
        if self._error is not None:
            raise self._error
        explored = self.explored
        explored.runs += 1
        if not explored.limits:
            explored.count_execution(end)
        explored.steps += len(self.schedule)
        explored.depth = max(explored.depth, len(self.schedule))
        for failed in end.failures:
            explored.add(Failing(failed, tuple(self.schedule), self.preemptions.count))

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if len(self.schedule) >= self.options.max_steps:
            self.explored.limit(f"an execution takes more than {len(self.schedule):,} steps")
            raise Abandon
        try:
            allowed = enabled
            if not self.options.early_timeouts:
                allowed = self.preemptions.leave_out_early(pending, enabled)
                self.explored.left_out |= len(allowed) < len(enabled)
            thread = self.pick(pending, allowed, last)
            self.preemptions.take(pending, enabled, last, thread)
        except Exception as error:
            self._error = error
            raise Abandon from error
        self.schedule.append(thread)
        return thread


class RandomWalk(RandomSchedules):
    def begin(self) -> None:
        """Nothing is decided beforehand."""

    def pick(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        return self.chance.choice(enabled)


class PCT(RandomSchedules):
    """Priorities and few changes."""

    def __init__(
        self,
        program: Runnable,
        seed: int,
        options: RunOptions | None = None,
        progress: Progress | None = None,
        depth: int = DEPTH,
    ) -> None:
        if depth < 1:
            raise OptionError(f"the depth of a failure is at least 1, not {depth}")
        super().__init__(program, seed, options, progress)
        self.failure_depth = depth
        self.ranking: list[int] = []
        """All threads that have begun, the one that goes first at the end."""
        self.changes: set[int] = set()

    def begin(self) -> None:
        self.ranking.clear()
        steps = range(self.explored.depth)
        count = min(self.failure_depth - 1, len(steps))
        self.changes = set(self.chance.sample(steps, count))

    def pick(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        for thread in range(len(self.ranking), len(pending)):
            self.ranking.insert(self.chance.randint(0, len(self.ranking)), thread)
        if last >= 0 and (pending[last] is None or gives_way(pending[last])):
            self.fall(last)
        if len(self.schedule) in self.changes:
            self.fall(self.first(enabled))
        return self.first(enabled)

    def first(self, enabled: Sequence[int]) -> int:
        return max(enabled, key=self.ranking.index)

    def fall(self, thread: int) -> None:
        self.ranking.remove(thread)
        self.ranking.insert(0, thread)


STRATEGIES: dict[str, type[RandomSchedules]] = {"random": RandomWalk, "pct": PCT}
