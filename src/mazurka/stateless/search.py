"""The loop that all searches over schedules share: follow a prefix, go on, back up, run again.

A search is a stack of **nodes**, one for each point of the present run at which something is left
to be decided.  The program runs from its start to its end and asks at each scheduling point who
goes on (`decide`).  Where the run repeats the one before, the answer is a look into a list; at the
last of these points another thread is taken than before; from there on the algorithm chooses.
When the run has ended, the stack is cut back to the last node that has something left.

Only what is chosen and what is noted on the way differ: searches with a bound on preemptions
(`context_bounded`), Algorithms 1 and 2 (`graph_search`), sleep sets and dynamic partial-order
reduction (`sleep_sets`).

The search runs inside the program's threads.  Whatever goes wrong in it ends the run by `Abandon`
and is raised again where the search was started.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from mazurka.deadline import TimeLimitError
from mazurka.stateless.explored import (
    INTERRUPTED,
    TIME,
    TRANSITIONS,
    DivergedError,
    Exceeded,
    Explored,
    Level,
    Progress,
    RunOptions,
    run_limit,
)
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation, OutOfTime, Runnable

NOBODY = -1


class Node:
    """A scheduling point of the present run."""

    __slots__ = ("depth",)

    def __init__(self, depth: int) -> None:
        self.depth = depth
        """How many steps lead here."""


AnyNode = TypeVar("AnyNode", bound=Node)


class Search(Decider, Generic[AnyNode]):
    """A depth-first search over the runs of a program."""

    name: ClassVar[str]

    def __init__(
        self,
        program: Runnable,
        options: RunOptions | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.program = program
        self.options = options or RunOptions()
        self.most = self.options.max_steps
        self.progress = progress
        self.bound: int | None = None
        self.explored = Explored()
        self.nodes: list[AnyNode] = []
        self.schedule: list[int] = []
        """The moves of the present run."""
        self.replayed = 0
        """How many points of the present run repeat the one before."""
        self.branch = NOBODY
        """Who goes on after them, where that is decided."""
        self.depth = 0
        self.cut = False
        """Whether the bound has kept the search from a step."""
        self._given_up = False
        self._error: BaseException | None = None
        self._started: float | None = None
        self._reported = 0.0

    # ---- what an algorithm says

    @abstractmethod
    def extend(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        """Go on where no run has been; raise `Abandon` if whatever can follow has been seen."""

    @abstractmethod
    def choose_again(self, node: AnyNode) -> int:
        """Choose another move at an old node; NOBODY if nothing is left there."""

    @abstractmethod
    def note_failures(self, end: Ended) -> None:
        """Take down the failures of a run."""

    def note_turn(self, pending: Sequence[Operation | None], move: int) -> None:
        """Note that the run leaves the prefix that it shares with the one before, by a move that
        was not made there then."""

    def take_back(self) -> None:
        """Undo the step from the last node, and what followed it."""

    def note_end(self, end: Ended) -> None:
        """Note the end of a run that was not given up."""

    def restart(self) -> bool:
        """Begin a level with a new bound; False if nothing is left to be seen within it."""
        self.explored.executions = 0
        self.explored.skipped = Counter()
        return True

    def is_exhaustive(self) -> bool:
        """At the end of a level: whether no execution needs more preemptions."""
        return not self.cut

    @property
    def states(self) -> int:
        """How many states are stored."""
        return 0

    # ---- the loop

    def explore(self, bound: int | None) -> Level:
        """Run all executions with at most so many preemptions; None for any number."""
        begun = time.perf_counter()
        if self._started is None:
            self._started = begun
        self.bound, self.cut = bound, False
        self.schedule.clear()
        self.nodes.clear()
        self.replayed, self.branch = 0, NOBODY
        level = Level(bound=bound)
        self.explored.levels.append(level)
        try:
            more = self.restart()
            while more and not self.is_over():
                self.run_once()
                self.update(level, begun)
                if self.progress is not None:
                    self.report()
                more = not self.is_over() and self.back_up()
            level.complete = not more and not self.explored.limits and not self.stops_here()
            level.exhaustive = level.complete and self.is_exhaustive()
        except Exceeded as limit:
            self.explored.limit(str(limit))
        except TimeLimitError:
            self.explored.limit(TIME)
        self.update(level, begun)
        return level

    def update(self, level: Level, begun: float) -> None:
        """Bring the counts of the level and of the whole search up to date."""
        explored, now = self.explored, time.perf_counter()
        assert self._started is not None
        explored.seconds = now - self._started
        level.seconds = now - begun
        explored.states = level.states = self.states
        level.executions = explored.executions
        level.failures = len(explored.failures)

    def report(self) -> None:
        """Tell whoever watches, now and then; they may raise `Exceeded`."""
        now = time.perf_counter()
        if self.progress is not None and now - self._reported >= self.options.report_every:
            self._reported = now
            self.progress(self.explored)

    @property
    def deadline(self) -> float | None:
        """When the time is over, on `time.perf_counter`'s clock."""
        limit = self.options.limit_seconds
        return None if limit is None or self._started is None else self._started + limit

    def stops_here(self) -> bool:
        """Whether a failure ends the search."""
        return self.options.stop_at_first and bool(self.explored.failures)

    def is_over(self) -> bool:
        """Whether the search ends before everything has been seen."""
        explored, options = self.explored, self.options
        if options.limit_seconds is not None and explored.seconds > options.limit_seconds:
            explored.limit(TIME)
        exceeded = None if options.allowance is None else options.allowance.find_exceeded()
        if exceeded is not None:
            explored.limit(exceeded)
        if options.max_runs is not None and explored.runs >= options.max_runs:
            explored.limit(run_limit(options.max_runs))
        if options.max_transitions is not None and explored.steps >= options.max_transitions:
            explored.limit(TRANSITIONS)
        return bool(explored.limits) or self.stops_here()

    def run_once(self) -> None:
        """Run the program once, and note what came of it."""
        explored = self.explored
        self.depth, self._given_up, self._error = 0, False, None
        before = explored.steps
        try:
            end = self.program.run(self)
        except KeyboardInterrupt:
            explored.limit(INTERRUPTED)
            return
        except OutOfTime:
            explored.limit(TIME)
            return
        explored.runs += 1
        if self._error is not None:
            self.note_break(end)
            raise self._error
        if self.depth < self.replayed or self.branch != NOBODY:
            raise DivergedError(
                f"the program ended after {self.depth} steps of a schedule that it had followed"
                f" for {self.replayed + 1}: it does not do the same again"
            )
        explored.steps = before + len(self.schedule) - self.replayed
        explored.depth = max(explored.depth, len(self.schedule))
        if self._given_up:
            explored.abandoned += 1
        elif end.limit is not None:
            explored.limit(end.limit)
        else:
            explored.count_execution(end)
            self.note_end(end)
        self.note_failures(end)

    def note_break(self, end: Ended) -> None:
        """Note the end of a run in which something was raised in the search."""

    @property
    def prefix(self) -> Sequence[int]:
        """Asked at the start of a run, when there is nothing else in the schedule."""
        return self.schedule

    def left(self, count: int) -> None:
        self.depth = count

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        depth = self.depth
        self.depth = depth + 1
        try:
            if depth <= self.replayed:
                if depth < self.replayed:
                    return self.repeat(depth, enabled)
                if self.branch != NOBODY:
                    return self.turn(pending, enabled)
            if depth >= self.most:
                self.explored.limit(f"an execution takes more than {depth:,} steps")
                raise Abandon
            return self.extend(pending, enabled, last)
        except Abandon:
            self._given_up = True
            raise
        except BaseException as error:
            self._error = error
            raise Abandon from error

    def repeat(self, depth: int, enabled: Sequence[int]) -> int:
        """Do as the run before, for a program that does not follow the prefix itself."""
        move = self.schedule[depth]
        if move not in enabled:
            raise self.describe_divergence(move, depth)
        return move

    def turn(self, pending: Sequence[Operation | None], enabled: Sequence[int]) -> int:
        """Leave the prefix that the run shares with the one before."""
        move, self.branch = self.branch, NOBODY
        if move not in enabled:
            raise self.describe_divergence(move, self.replayed)
        self.note_turn(pending, move)
        self.schedule.append(move)
        return move

    def describe_divergence(self, thread: int, depth: int) -> DivergedError:
        return DivergedError(
            f"thread {thread} could go on after {depth} steps, and now it cannot, after the same"
            " ones: the program does not do the same again"
        )

    def back_up(self) -> bool:
        """Return to the last node that has a candidate; False if there is none."""
        nodes, schedule = self.nodes, self.schedule
        while nodes:
            node = nodes[-1]
            if len(schedule) > node.depth:
                del schedule[node.depth :]
                self.take_back()
            move = self.choose_again(node)
            if move != NOBODY:
                self.branch = move
                self.replayed = len(schedule)
                return True
            nodes.pop()
        return False
