"""One search over schedules by several workers: branches of the tree of runs.

A *branch* is the set of runs that begin with certain moves.  At every node along these moves the
branches of other moves belong to other workers, or come later: the moves *before* the branch's own
one sleep there, as if they had been explored (`sleep_sets.BranchTurn`).

**Each partial order once.**  From a node that is split, every enabled move is taken that does not
sleep, so nothing has to be added there: sleep sets alone complete one execution of each trace
(Godefroid, LNCS 1032, chapter 5), whatever the order in which the branches are explored.  What a
branch contains depends on the moves that lead to it and on what sleeps there, and on nothing that
happens in other branches.  Within a branch a reduction goes on as it does in the search of one
process below a node with the same sleep set; the other orders that it would have explored from a
node above are those of other branches.  So the executions are as many as in one process, and the
failures of the same sorts.  A reduction may begin more runs in vain: it would not have taken all
moves of the nodes that are split.

Not so optimal reduction.  It relies on its wakeup trees for that no run is given up, and takes a
sequence for explored if something that sleeps might come before it: in a run that was given up, the
step that would have kept it from sleeping may be missing.  The trees of the nodes above a branch
come from the runs of other branches, so `optimal-dpor` is refused.  (With branches it loses
executions: `tests/soundness/test_branches.py`.)

**What is reported** does not depend on who is faster.  Branches are in the order of the search; the
result is what they have found up to the first that has a failure, if the search ends with it.

**A lost worker** leaves its branches unexplored: the search ends as inconclusive.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from mazurka.analysis.stops import StopFacts, Stops
from mazurka.cluster.crew import ClusterCrew, LostWorkerError
from mazurka.deadline import TimeLimitError, seconds_left
from mazurka.ir.program import Program
from mazurka.search import LOST_WORKER, Observer, Silent
from mazurka.search.resources import default_limit_bytes, resident_bytes
from mazurka.stateless.explored import INTERRUPTED, TIME, Exceeded, Explored, Progress, RunOptions
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.actions import Action, Move
from mazurka.stateless.reduction.sleep_sets import BOUND, BranchTurn, SleepSets
from mazurka.stateless.runs import Runnable

BRANCHES_EACH = 16
"""How many branches each worker gets about, if there are so many: some are larger than others."""
MOST_SPLITS = 2_000
"""How often a branch is split at most, where most nodes have one move."""
AT_A_TIME = 2
"""How many branches a worker is given ahead."""
WORKING_SHARE = 0.95
"""The part of the time that is left which a worker may take for a branch."""
LOOK_EVERY = 0.2
"""Seconds after which somebody who watches is told, and limits are looked at."""

Branch = tuple[BranchTurn, ...]


class BranchHead(SleepSets):
    """Goes to the node at which a branch begins, and looks at what can be done there."""

    heads: tuple[Move, ...] = ()
    """The moves that can be taken there and do not sleep."""

    def choose(self, position: int) -> Action | None:
        self.heads = tuple(action.move for action in self.nodes[position].awake())
        return None


class BranchCutter:
    """Cuts the tree of a program's runs into branches."""

    def __init__(self, program: Runnable) -> None:
        self.program = program
        self.head: BranchHead | None = None
        """What has gone to a node last."""

    @property
    def schedule(self) -> Sequence[int]:
        """The moves of the last run."""
        return () if self.head is None else self.head.schedule

    def split(self, branch: Branch) -> list[Branch]:
        """The branches of the moves with which a branch goes on; none if it is a single run."""
        search = BranchHead(self.program, RunOptions(max_runs=1), branch=branch)
        self.head = search
        search.run()
        heads = search.heads
        return [
            (*branch, BranchTurn(move, frozenset(heads[:number])))
            for number, move in enumerate(heads)
        ]

    def cut(self, wanted: int) -> list[Branch]:
        """Split the search into so many branches or some more, in its order, shallow ones first."""
        branches: list[Branch] = [()]
        single: set[Branch] = set()
        for _ in range(MOST_SPLITS):
            open_ones = [branch for branch in branches if branch not in single]
            if len(branches) >= wanted or not open_ones:
                break
            branch = min(open_ones, key=len)
            parts = self.split(branch)
            if parts:
                place = branches.index(branch)
                branches[place : place + 1] = parts
            else:
                single.add(branch)
        return branches


def find_branches(program: Program, wanted: int) -> list[Branch]:
    """Cut the runs of a model into so many branches or some more."""
    return BranchCutter(IRExecution(program)).cut(wanted)


def count_repeated(branch: Branch) -> int:
    """How many moves of a branch the search of one process repeats when it begins the branch: those
    up to the last node from which it has explored another move."""
    return max((number for number, turn in enumerate(branch) if turn.before), default=0)


@dataclass(frozen=True)
class BranchResult:
    explored: Explored
    stops: StopFacts


class BranchWorker:
    """Explores branches, on a worker's machine."""

    def __init__(
        self, program: Program, reduction: str, options: RunOptions, limit_bytes: int | None
    ) -> None:
        self.program = program
        self.search = REDUCTIONS[reduction]
        self.options = options
        self.limit_bytes = limit_bytes or default_limit_bytes()
        self.bytes_before = resident_bytes()

    def explore(self, branch: Branch, limit_seconds: float | None) -> BranchResult:
        """Run one execution of each trace of a branch."""
        execution = IRExecution(self.program)
        options = replace(self.options, limit_seconds=limit_seconds)
        search = self.search(execution, options, self.watch, branch=branch)
        found = search.run()
        found.steps -= count_repeated(branch)
        return BranchResult(found, execution.stops.facts())

    def watch(self, found: Explored) -> None:
        if resident_bytes() - self.bytes_before > self.limit_bytes:
            raise Exceeded("memory")


class FoundInBranch(Protocol):
    """What a worker answers that has explored a branch."""

    @property
    def explored(self) -> Explored: ...


AnyFound = TypeVar("AnyFound", bound=FoundInBranch)


class BranchLeader(ABC, Generic[AnyFound]):
    """Has the workers of a cluster explore the branches, and puts together what they find."""

    def __init__(
        self,
        options: RunOptions,
        crew: ClusterCrew,
        progress: Progress,
        observer: Observer | None = None,
    ) -> None:
        self.options = options
        self.crew = crew
        self.progress = progress
        self.observer = observer or Silent()
        self.notes: tuple[str, ...] = ()
        self.results: dict[int, AnyFound] = {}
        """What was found in each branch that is done, by its number."""
        self.end = 0
        """The number of the first branch that need not be explored."""

    @abstractmethod
    def find_branches(self, wanted: int) -> list[Branch]:
        """Cut the search into so many branches or some more, in its order."""

    def run(self) -> Explored:
        self.started = time.perf_counter()
        limits: tuple[str, ...] = ()
        try:
            branches = self.find_branches(BRANCHES_EACH * self.crew.size)
            self.end = len(branches)
            self.explore(branches)
        except KeyboardInterrupt:
            limits = (INTERRUPTED,)
        except LostWorkerError as lost:
            limits = (LOST_WORKER,)
            self.notes = (lost.note,)
        except Exceeded as limit:
            limits = (str(limit),)
        except TimeLimitError:
            limits = (TIME,)
        found = self.put_together()
        for limit_name in limits:
            found.limit(limit_name)
        return found

    def counted(self) -> list[AnyFound]:
        """What was found in the branches that count, in the order of the search."""
        return [self.results[number] for number in sorted(self.results) if number < self.end]

    def explore(self, branches: Sequence[Branch]) -> None:
        """Give branches to the workers until all are done, or no more are of interest."""
        waiting = list(reversed(range(len(branches))))
        asked: dict[Any, tuple[int, int]] = {}
        free = [worker for worker in range(self.crew.size) for _ in range(AT_A_TIME)]
        while asked or (waiting and waiting[-1] < self.end):
            while free and waiting and waiting[-1] < self.end:
                number, worker = waiting.pop(), free.pop(0)
                (handle,) = self.crew.ask(worker, "explore", branches[number], self.seconds_left())
                asked[handle] = number, worker
            for handle in self.crew.find_ready(list(asked), LOOK_EVERY):
                number, worker = asked.pop(handle)
                (answer,) = self.crew.get([handle])
                self.results[number] = self.accept(answer)
                free.append(worker)
                if self.ends_search(self.results[number].explored):
                    self.end = min(self.end, number + 1)
                    asked = {each: who for each, who in asked.items() if who[0] < self.end}
            found = self.put_together()
            self.progress(found)
            self.observer.message(self.describe(found))

    def describe(self, found: Explored) -> str:
        """How far the workers have come: what is found in a branch is not known before its end."""
        done = f"{len(self.counted()):,} of {self.end:,} branches"
        return f"{done}  {found.executions:,} executions  {found.seconds:.1f} s"

    def accept(self, answer: AnyFound) -> AnyFound:
        """Take the answer of a worker over."""
        return answer

    def seconds_left(self) -> float | None:
        """What a worker may take: somewhat less than is left, so that its answer comes in time."""
        limit = self.options.limit_seconds
        own = None if limit is None else limit - (time.perf_counter() - self.started)
        left = [each for each in (own, seconds_left()) if each is not None]
        return max(WORKING_SHARE * min(left), 1e-3) if left else None

    def ends_search(self, found: Explored) -> bool:
        """Whether nothing that comes after a branch is of interest."""
        bounds = {each.failed.message for each in found.failures if each.failed.kind == BOUND}
        failed = any(kind != BOUND for kind in found.kinds)
        return not bounds.issuperset(found.limits) or (self.options.stop_at_first and failed)

    def put_together(self) -> Explored:
        """Add up what the branches have found, in the order of the search."""
        whole = Explored()
        for result in self.counted():
            found = result.explored
            whole.executions += found.executions
            whole.skipped += found.skipped
            whole.runs += found.runs
            whole.abandoned += found.abandoned
            whole.steps += found.steps
            whole.depth = max(whole.depth, found.depth)
            for failing in found.failures:
                whole.add(failing)
            for limit in found.limits:
                whole.limit(limit)
        whole.seconds = time.perf_counter() - self.started
        return whole


class BranchSearch(BranchLeader[BranchResult]):
    """The search over the schedules of a model."""

    def __init__(
        self,
        program: Program,
        options: RunOptions,
        crew: ClusterCrew,
        progress: Progress,
        observer: Observer | None = None,
    ) -> None:
        super().__init__(options, crew, progress, observer)
        self.program = program
        self.stops = Stops(program)

    def find_branches(self, wanted: int) -> list[Branch]:
        return find_branches(self.program, wanted)

    def run(self) -> Explored:
        found = super().run()
        for result in self.counted():
            self.stops.add(result.stops)
        return found
