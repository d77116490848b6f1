"""Sleep sets, and what all searches share that run one execution of each Mazurkiewicz trace.

Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS 1032, chapter
5).  A **sleep set** belongs to each node: moves that need not be taken from here, because whatever
they lead to has been seen.  After a move has been explored it sleeps at its node; an action that
depends on it wakes it up.  A run in which all that is enabled sleeps is given up: it is *blocked*.

Theorem: of every Mazurkiewicz trace exactly one execution is completed.  Sleep sets avoid
executions, not states: more runs may be given up than are completed.  `SleepSets` explores every
enabled thread everywhere, except what sleeps; reductions (`dpor`, `source_dpor`, `optimal_dpor`)
look back at the end of a run for other orders that are worth a run, and note them at the nodes
where they part.

Choices: a sleeping entry is a move, a thread together with its choice.

Only programs whose executions all end can be searched in this way.  One that is seen to go round
(`Ended.limit`), or is longer than `max_steps`, ends the search with that limit, and there is no
verdict but what has been found.  Nor is one missed: a search that comes to its end has taken a
finite number of steps and has completed, for every finite run, one that extends an equivalent run;
an execution without an end has runs longer than all of those.

After a step that never came to an end (`Failed.unfinished`) the other threads go on, for otherwise
the orders in which the step comes later, or not at all, would never be found; but nothing that such
a step happens before is reported.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mazurka.errors import InternalError
from mazurka.stateless.explored import (
    INTERRUPTED,
    TIME,
    Exceeded,
    Explored,
    Failing,
    Level,
    Progress,
    RunOptions,
)
from mazurka.stateless.reduction.actions import Action, Events, Foresight, Move
from mazurka.stateless.reduction.foresight import RecordedForesight
from mazurka.stateless.reduction.trace import EventOrder
from mazurka.stateless.runs import Abandon, Ended, Failed, Operation, Runnable
from mazurka.stateless.search import NOBODY, Node, Search

BOUND = "bound"
"""The kind of failure that is a limit of the analysis, not an error in the program."""
DEADLOCK = "deadlock"


@dataclass(frozen=True)
class BranchTurn:
    """A move with which a branch of the tree of runs begins."""

    move: Move
    before: frozenset[Move] = frozenset()
    """The moves from the same node whose branches are explored elsewhere, and count as explored
    before this one."""


class SleepingNode(Node):
    """A prefix of the present run: what can happen next, and what has been decided about it."""

    __slots__ = ("actions", "backtrack", "enabled", "explored", "sleep")

    def __init__(
        self,
        depth: int,
        actions: dict[int, tuple[Action, ...]],
        enabled: list[Action],
        sleep: dict[Move, Action],
    ) -> None:
        self.depth = depth
        self.actions = actions
        """The next actions of every thread, attempts of those that cannot move included."""
        self.enabled = enabled
        self.sleep = sleep
        """Moves that are covered elsewhere."""
        self.explored: set[Move] = set()
        """Moves taken from here, to the end of whatever they lead to."""
        self.backtrack: set[int] = set()
        """The threads that are to be explored from here."""

    def awake(self) -> list[Action]:
        """What can be done here and is neither asleep nor explored."""
        return [
            action
            for action in self.enabled
            if action.move not in self.sleep and action.move not in self.explored
        ]


class ScheduleSearch(Search[SleepingNode]):
    """A search for one execution of each trace.  It has no bound on preemptions."""

    uses_sleep_sets = True

    def __init__(
        self,
        program: Runnable,
        options: RunOptions | None = None,
        progress: Progress | None = None,
        *,
        branch: Sequence[BranchTurn] = (),
    ) -> None:
        """`branch`: how all runs begin; others explore the rest (`stateless.branches`)."""
        super().__init__(program, options, progress)
        self.turns = tuple(branch)
        self.foresight = program if isinstance(program, Foresight) else RecordedForesight()
        self.trace = EventOrder()
        self.unfinished: Events = 0
        """Events of the present run that never came to an end."""
        self._action: Action | None = None
        """What is going to be done where the next run parts from the present one."""
        self._steps = 0
        """Steps taken in earlier runs."""
        self._deadline = math.inf
        self._bounds: list[str] = []
        """Limits of the analysis that some execution has passed."""

    @abstractmethod
    def choose(self, position: int) -> Action | None:
        """Choose what to do at a node; None if nothing is left.  Asking twice changes nothing."""

    def choose_in_branch(self, position: int) -> Action | None:
        """Choose what to do at a node; where the branch begins that is given."""
        if position >= len(self.turns):
            return self.choose(position)
        node, move = self.nodes[position], self.turns[position].move
        for action in node.awake():
            if action.move == move:
                return action
        if move not in node.explored:
            raise InternalError(f"a branch begins with {move}, which cannot be taken or sleeps")
        return None

    @abstractmethod
    def look_back(self) -> None:
        """At the end of a run: note at the nodes what other orders are worth a run."""

    def find_choices(self) -> list[int]:
        """The events of the present run whose threads could have chosen something else."""
        return [
            position
            for position, action in enumerate(self.trace.actions)
            if len(self.nodes[position].actions[action.thread]) > 1
        ]

    def note_arrival(self, position: int, by: Action | None) -> None:
        """Note that a node has been added, by an action unless it is the first."""

    def note_departure(self, position: int, by: Action) -> None:
        """Note that all that follows an action at a node has been explored."""

    # ---- the search as a whole

    def run(self) -> Explored:
        """Run one execution of each trace, or as many as the limits allow."""
        try:
            self.explore(None)
        except KeyboardInterrupt:
            self.explored.limit(INTERRUPTED)
            self._count(len(self.schedule))
        return self.explored

    def explore(self, bound: int | None) -> Level:
        level = super().explore(bound)
        for message in self._bounds:
            self.explored.limit(message)
            level.complete = level.exhaustive = False
        return level

    def restart(self) -> bool:
        self.trace = EventOrder()
        self.foresight.cut(0)
        self.unfinished = 0
        self._deadline = math.inf if self.deadline is None else self.deadline
        return super().restart()

    def stops_here(self) -> bool:
        return self.options.stop_at_first and any(kind != BOUND for kind in self.explored.kinds)

    def is_exhaustive(self) -> bool:
        return True

    def pulse(self) -> None:
        """See what time it is, and tell whoever watches.  Called all the time."""
        now = time.perf_counter()
        if now >= self._deadline:
            raise Exceeded(TIME)
        if self.progress is not None and now - self._reported >= self.options.report_every:
            self._count(len(self.schedule))
            self.report()

    def _count(self, taken: int) -> None:
        """Count the steps of a run that has not ended."""
        explored = self.explored
        assert self._started is not None
        explored.seconds = time.perf_counter() - self._started
        explored.steps = self._steps + max(taken - self.replayed, 0)

    # ---- one run

    def run_once(self) -> None:
        self._steps = self.explored.steps
        super().run_once()
        if INTERRUPTED in self.explored.limits:
            self._count(len(self.schedule) - 1)  # the last step has been chosen, but not taken

    def extend(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self.pulse()
        for life in self.foresight.arrive(pending):
            self._begin(life)
        self.enter()
        action = self.choose_in_branch(len(self.trace))
        if action is None:
            raise Abandon
        self.take(action)
        self.schedule.append(action.move)
        return action.move

    def _begin(self, life: object) -> None:
        """Note that the last step has begun a thread: it writes the thread's life."""
        action = self.trace.actions[-1]
        self.trace.pop()
        self.trace.push(replace(action, writes=action.writes | {life}))

    def take(self, action: Action) -> None:
        """Add an action to the present run."""
        self.foresight.take(action)
        self.trace.push(action)

    def note_turn(self, pending: Sequence[Operation | None], move: int) -> None:
        assert self._action is not None
        self.foresight.renew(pending)
        self.take(self._action)

    def enter(self) -> None:
        """Add a node for the point that the present run has come to."""
        foresight = self.foresight
        actions = foresight.actions()
        enabled = [action for some in actions.values() for action in some if action.enabled]
        by = self.trace.actions[-1] if self.nodes else None
        sleep = {} if by is None or not self.uses_sleep_sets else self.still_asleep(by)
        depth = len(self.trace)
        self.nodes.append(SleepingNode(depth, actions, foresight.rank(enabled), sleep))
        if depth < len(self.turns):
            self.leave_to_others(self.nodes[-1], self.turns[depth].before)
        self.note_arrival(depth, by)

    def leave_to_others(self, node: SleepingNode, moves: frozenset[Move]) -> None:
        """Take moves from a node for explored: what follows them is explored elsewhere."""
        for action in node.enabled:
            if action.move in moves:
                node.explored.add(action.move)
                node.sleep[action.move] = action

    def still_asleep(self, by: Action) -> dict[Move, Action]:
        """What sleeps on after an action: one that depends on it may now lead somewhere else."""
        asleep = self.nodes[-1].sleep
        return {move: action for move, action in asleep.items() if not action.depends(by)}

    def over(self, pending: Sequence[Operation | None]) -> None:
        for life in self.foresight.settle(pending):
            self._begin(life)

    def note_end(self, end: Ended) -> None:
        self.over(end.pending)
        self.enter()
        if self.nodes[-1].enabled:
            if not end.abandoned:
                raise InternalError(
                    "a run ended because nobody could go on, yet the states of objects say that"
                    f" thread {self.nodes[-1].enabled[0].thread} can"
                )
            self.nodes[-1].enabled = []  # the program has given up itself

    def note_failures(self, end: Ended) -> None:
        for failed in end.failures:
            causes = None if failed.step is None else self.trace.before[failed.step]
            is_real = not (self.unfinished if causes is None else causes & self.unfinished)
            if failed.unfinished and failed.step is not None:
                self.unfinished |= 1 << failed.step
            if is_real and failed.kind not in self.options.ignored:
                self.add(failed, causes)

    def add(self, failed: Failed, causes: Events | None) -> None:
        """Report a failure with a schedule of what happens before it.

        The first failure of a search comes after no other one, unless an ignored one; later ones
        may.
        """
        if failed.kind == BOUND:
            self._bounds.append(failed.message)
        if not self.explored.is_new(failed):
            return
        if causes is None:
            schedule, preemptions = self.foresight.find_simplest(self.schedule)
        else:
            moves = [action.move for action in self.trace.pick(causes)]
            schedule, preemptions = Foresight.find_simplest(self.foresight, moves)
        self.explored.add(Failing(failed, schedule, preemptions))

    def note_break(self, end: Ended) -> None:
        """Count what a run has shown before it was stopped."""
        self._count(len(self.schedule))
        self.note_failures(end)

    # ---- the next run

    def back_up(self) -> bool:
        self.look_back()
        return super().back_up()

    def choose_again(self, node: SleepingNode) -> int:
        self._action = action = self.choose_in_branch(node.depth)
        if action is None:
            return NOBODY
        self.foresight.cut(node.depth)
        return action.move

    def take_back(self) -> None:
        action = self.trace.actions[-1]
        self.trace.pop()
        position = len(self.trace)
        self.unfinished &= ~(1 << position)
        node = self.nodes[-1]
        node.explored.add(action.move)
        if self.uses_sleep_sets:
            node.sleep[action.move] = action
        self.note_departure(position, action)


class SleepSets(ScheduleSearch):
    """Every enabled thread everywhere, except what sleeps."""

    name = "sleep-sets"

    def choose(self, position: int) -> Action | None:
        return next(iter(self.nodes[position].awake()), None)

    def look_back(self) -> None:
        """Everything is explored anyway."""
