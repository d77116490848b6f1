"""The loop that all context-bounded searches share: follow a prefix, go on, back up, run again.

The search is a stack of **nodes**, one for each scheduling point of the present run.  The program
asks at each point who goes on (`decide`).  Where the run repeats the one before, the answer is a
look into a list; at the last of these points it takes another thread than before; from there on the
algorithm chooses.  Candidates begin with the thread that is running, so that the first executions,
and counterexamples, have few preemptions.  After a thread that gives way the others take turns.

A **preemption** is a switch away from a thread that could go on and does not give way.  Only
`choose`, `candidate` and what is noted on the way differ between algorithms.

The search runs inside the program's threads.  Whatever goes wrong in it ends the run by `Abandon`
and is raised again where the search was started.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from mazurka.stateless.actions import StateHash
from mazurka.stateless.context_bound import Exceeded
from mazurka.stateless.explored import (
    INTERRUPTED,
    TIME,
    DivergedError,
    Explored,
    Failing,
    Level,
    Progress,
    RunOptions,
    run_limit,
)
from mazurka.stateless.preemptions import giving_way, hasty
from mazurka.stateless.runs import Abandon, Decider, Ended, Operation, OutOfTime, Runnable

NOBODY = -1
_NEVER: dict[int, int] = {}


class Node:
    """A scheduling point of the present run."""

    __slots__ = (
        *("depth", "events", "giving", "hasty", "kept", "order", "rests", "spent", "state"),
        "tried",
    )
    events: int
    state: StateHash
    """For those who say what these are."""

    def __init__(self, order: Sequence[int], kept: int, spent: int, depth: int) -> None:
        self.depth = depth
        """How many steps lead here."""
        self.order = order
        """The threads that can go on, the preferred one first."""
        self.kept = kept
        """The thread from which a switch is a preemption here, if there is one."""
        self.giving: tuple[int, ...] = ()
        """The threads that give way here."""
        self.rests = _NEVER
        """How often threads have done so before, and gone on."""
        self.hasty: Sequence[int] = ()
        """The threads for which to go on is one, whoever was last."""
        self.spent = spent
        """Preemptions on the way here."""
        self.tried = 0
        """How many of `order` need no more looking at."""

    def cost(self, thread: int) -> int:
        """Preemptions of the present run, if the thread goes on from here."""
        if self.kept in (thread, NOBODY) and thread not in self.hasty:
            return self.spent
        return self.spent + 1


class BoundedSearch(Decider):
    """A depth-first search over runs, bounded by preemptions; a `Decider`."""

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
        self.nodes: list[Node] = []
        self.schedule: list[int] = []
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
    def choose(self, node: Node) -> int:
        """Who goes on from a new node; NOBODY if whatever can follow has been seen."""

    @abstractmethod
    def candidate(self, node: Node) -> int:
        """Who else is to go on from an old node; NOBODY if nothing is left there."""

    def turned(self, pending: Sequence[Operation | None], thread: int) -> None:
        """The run has come again to the last point it shares with the one before, and a thread
        goes on that did not then."""

    def undone(self) -> None:
        """The step from the last node has been taken back, and what followed it."""

    def ended(self, end: Ended) -> None:
        """A run has come to its end."""

    def restart(self) -> bool:
        """Begin with a new bound; False if nothing is left to be seen within it."""
        self.explored.executions = 0
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
        """All executions with at most so many preemptions; None for any number."""
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
                more = not self.is_over() and self.back_up()
            level.complete = not more and not self.explored.limits and not self.stops_here()
            level.exhaustive = level.complete and self.is_exhaustive()
        except Exceeded as limit:
            self.explored.limit(str(limit))
        self.update(level, begun)
        return level

    def update(self, level: Level, begun: float) -> None:
        explored, now = self.explored, time.perf_counter()
        assert self._started is not None
        explored.seconds = now - self._started
        level.seconds = now - begun
        explored.states = level.states = self.states
        level.executions = explored.executions
        level.failures = len(explored.failures)
        if self.progress is not None and now - self._reported >= self.options.report_every:
            self._reported = now
            self.progress(explored)

    @property
    def deadline(self) -> float | None:
        limit = self.options.limit_seconds
        return None if limit is None or self._started is None else self._started + limit

    def stops_here(self) -> bool:
        return self.options.stop_at_first and bool(self.explored.failures)

    def is_over(self) -> bool:
        explored, options = self.explored, self.options
        if options.limit_seconds is not None and explored.seconds > options.limit_seconds:
            explored.limit(TIME)
        if options.max_runs is not None and explored.runs >= options.max_runs:
            explored.limit(run_limit(options.max_runs))
        return bool(explored.limits) or self.stops_here()

    def run_once(self) -> None:
        explored = self.explored
        self.depth, self._given_up, self._error = 0, False, None
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
            raise self._error
        if self.depth < self.replayed or self.branch != NOBODY:
            raise DivergedError(
                f"the program ended after {self.depth} steps of a schedule that it had followed"
                f" for {self.replayed + 1}: it does not do the same again"
            )
        explored.steps += len(self.schedule) - self.replayed
        explored.depth = max(explored.depth, len(self.schedule))
        if self._given_up:
            explored.abandoned += 1
        else:
            explored.executions += 1
            self.ended(end)
        self.note(end)

    def note(self, end: Ended) -> None:
        if end.failures:
            schedule = tuple(self.schedule)
            spent = self.spent(schedule[self.nodes[-1].depth]) if self.nodes else 0
            for failed in end.failures:
                self.explored.add(Failing(failed, schedule, spent))

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
        thread = self.schedule[depth]
        if thread not in enabled:
            raise self.diverged(thread, depth)
        return thread

    def extend(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        """Go on where no run has been."""
        thread = self.choose(self.enter(pending, enabled, last))
        if thread == NOBODY:
            raise Abandon
        self.schedule.append(thread)
        return thread

    def turn(self, pending: Sequence[Operation | None], enabled: Sequence[int]) -> int:
        """Leave the prefix that the run shares with the one before."""
        thread, self.branch = self.branch, NOBODY
        if thread not in enabled:
            raise self.diverged(thread, self.replayed)
        self.turned(pending, thread)
        self.schedule.append(thread)
        return thread

    def enter(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> Node:
        giving: tuple[int, ...] = ()
        for thread in enabled:
            if pending[thread].yields is not False:  # type: ignore[union-attr]
                giving = giving_way(pending, enabled)
                break
        kept = last if last in enabled and last not in giving else NOBODY
        order: tuple[int, ...]
        if kept == enabled[0] or len(enabled) == 1:
            order = tuple(enabled)
        elif kept >= 0:
            order = (kept, *[thread for thread in enabled if thread != kept])
        else:
            later = [thread for thread in enabled if thread > last]
            order = (*later, *[thread for thread in enabled if thread <= last])
        nodes, schedule = self.nodes, self.schedule
        if nodes:
            before = nodes[-1]
            taken = schedule[before.depth]  # what followed, up to here, was no choice
            node = Node(order, kept, before.cost(taken), len(schedule))
            if before.giving or before.rests:
                node.rests = before.rests
                if taken in before.giving:
                    node.rests = {**before.rests, taken: before.rests.get(taken, 0) + 1}
        else:
            node = Node(order, kept, 0, len(schedule))
        if giving:
            self._let_rest(node, giving)
        nodes.append(node)
        return node

    def _let_rest(self, node: Node, giving: tuple[int, ...]) -> None:
        """Note who gives way, and who had better not go on again."""
        node.giving = giving
        node.hasty = hasty(giving, node.order, node.rests)
        later = giving if len(giving) < len(node.order) else node.hasty
        free = [thread for thread in node.order if thread not in later]
        node.order = (*free, *[thread for thread in node.order if thread in later])

    def spent(self, thread: int) -> int:
        """Preemptions of the present run, if the thread goes on from the last node."""
        if not self.nodes:
            return 0
        return self.nodes[-1].cost(thread)

    def diverged(self, thread: int, depth: int) -> DivergedError:
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
                self.undone()
            thread = self.candidate(node)
            if thread != NOBODY:
                self.branch = thread
                self.replayed = len(schedule)
                return True
            nodes.pop()
        return False
