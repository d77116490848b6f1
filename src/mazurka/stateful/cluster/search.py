"""Breadth-first search by the workers of a cluster: who leads them.

**A level.**  The states of a level lie in the parts that they belong to.  In each *round* every
worker expands some of its states, and what it has found for others goes straight to these.  A level
is completed when all its states are expanded, and everything that was sent has been stored.  Both
are counted: a state that was sent and has not come ends the run with an error.

**The beginning** is left to one worker, which needs no messages to go from level to level: most
searches are small.  When a level is large, all get their share of the states found so far, and it
is chosen from these who is to have which (`mazurka.stateful.cluster.placement`).

In large levels the next round is asked for before the batches of the last one are delivered, so
that workers need not wait for each other within a level.

**The same answer as of one process.**  A level is the set of states at one distance from the
initial state, wherever they lie.  What is reported of it is chosen by rank
(`mazurka.stateful.searches.levels`), when the level is completed.

**The way to a state** is found by going back: each worker looks for a state of the level before
that has it as a successor.

**A lost worker** takes its states with it.  The search ends as inconclusive: what the others have
expanded says nothing about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mazurka.cluster.crew import ClusterCrew, ClusterError, LostWorkerError
from mazurka.errors import InternalError
from mazurka.ir.native.step import NativeProgram
from mazurka.search import LOST_WORKER, Move, Observer, SearchOptions, SearchResult, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.cluster.part import PartFinding, PartReport, describe_layout
from mazurka.stateful.searches.conduct import SLICE_TRANSITIONS
from mazurka.stateful.searches.levels import LevelConductor

SHARED_LEVEL = 1 << 14
"""The size of a level from which on states are shared out."""
LARGE_LEVEL = 1 << 12
"""If so many states are left for each worker, and more than a round is expected to expand, a second
round is asked for before the first one has ended."""
LONGER_ROUND = 4
"""Rounds are longer than the slices of one process by this factor: each takes some messages."""
UNLIMITED = 1 << 62
"""The parts keep to the memory limit themselves."""


@dataclass(frozen=True)
class PartRound:
    """What every worker has been asked to expand, and will answer."""

    reports: list[Any]
    batches: list[list[Any]]
    """By worker that sends, and by worker to whom it sends."""


class ClusterSearch:
    shared_level = SHARED_LEVEL

    def __init__(
        self, native: NativeProgram, options: SearchOptions, observer: Observer, crew: ClusterCrew
    ) -> None:
        self.native = native
        self.crew = crew
        self.conductor = LevelConductor(native, options, observer)
        self.conductor.limit_bytes = UNLIMITED
        self.observer = observer
        self.reports: dict[int, PartReport] = {}
        """The last report of each worker."""
        self.rounds: list[PartRound] = []
        """Those that were asked for, and whose batches have not been delivered."""
        self.stored: list[list[Any]] = []
        """Handles of the reports on what was delivered in this level, by round."""
        self.at_work: Sequence[int] = range(1)
        """The workers that have states: one, until levels are large."""
        self.level = 0
        self.known = 1
        """How many states were known when the level began: those of all levels up to it."""
        self.left = 1
        """How many states of the level have not been expanded."""
        self.notes: tuple[str, ...] = ()

    def run(self) -> SearchResult:
        try:
            self.begin()
            result = self.conductor.run(self.slice)
        except LostWorkerError as lost:  # at the beginning, or on the way back from a violation
            self.lose(lost)
            result = SearchResult(self.conductor.statistics, limits=(LOST_WORKER,))
        except KeyboardInterrupt:
            result = SearchResult(self.conductor.statistics, limits=("interrupted",))
        return replace(result, notes=(*result.notes, *self.notes), order="bfs")

    def begin(self) -> None:
        """Have everybody set up, and the initial state stored where it belongs."""
        expected = describe_layout(self.native.layout)
        for worker, found in enumerate(self.ask_all("describe")):
            if found != expected:
                raise ClusterError(
                    f"worker {worker + 1} has another version of Mazurka, or packs states in"
                    " another way; install the same version on all machines of the cluster"
                )
        self.look_at(self.ask_all("begin"))

    def ask_all(self, method: str, *given: object) -> list[Any]:
        """Ask all workers the same, and wait for their answers."""
        workers = range(self.crew.size)
        handles = [self.crew.ask(worker, method, *given)[0] for worker in workers]
        return self.crew.get(handles)

    # --- rounds -------------------------------------------------------------------------------

    def slice(self, budget: int) -> bool:
        """Have all workers expand some states; whether the search is over."""
        limited = self.conductor.limit_seconds is not None
        if limited or self.conductor.options.limit_transitions is not None:
            budget = budget // self.crew.size + 1
        elif budget == SLICE_TRANSITIONS:
            budget *= LONGER_ROUND
        try:
            return self.do_round(budget)
        except LostWorkerError as lost:
            self.lose(lost)
            return self.conductor.out_of(LOST_WORKER)
        finally:
            self.count()

    def lose(self, lost: LostWorkerError) -> None:
        self.notes = (*self.notes, lost.note)

    def do_round(self, budget: int) -> bool:
        """Deliver what one more round has found; whether the search is over."""
        while len(self.rounds) < self.wanted_rounds(budget):
            self.rounds.append(self.ask_to_expand(self.level, budget))
        first = self.rounds.pop(0)
        self.deliver(first)
        self.look_at(self.crew.get(first.reports))
        self.left = self.total(lambda report: report.left)
        if self.is_out_of_memory():
            return self.conductor.out_of_memory()
        return self.left == 0 and self.next_level(budget)

    def wanted_rounds(self, budget: int) -> int:
        """How many rounds to have under way: two where one will hardly complete the level."""
        workers = len(self.at_work)
        transitions = self.total(lambda report: report.transitions)
        expected = self.left * transitions // max(self.states, 1)
        large = self.left > workers * LARGE_LEVEL and expected > workers * budget
        return 2 if large and workers > 1 else 1

    def ask_to_expand(self, level: int, budget: int) -> PartRound:
        asked = level, budget, not self.conductor.hang_found, self.shared_level
        answers = [
            self.crew.ask(worker, "expand", *asked, answers=1 + self.crew.size)
            for worker in self.at_work
        ]
        return PartRound([each[0] for each in answers], [each[1:] for each in answers])

    def deliver(self, sent: PartRound) -> None:
        """Hand the batches of a round to those to whom they are sent."""
        workers = self.at_work
        if len(workers) > 1:
            self.stored.append([])
            for worker in workers:
                batches = [sent.batches[other][worker] for other in workers if other != worker]
                self.stored[-1] += self.crew.ask(worker, "receive", *batches)

    def next_level(self, budget: int) -> bool:
        """Go on to the states found last; whether the search is over.

        Each worker begins the next level when it has stored what the others have sent, without
        waiting for anybody to hear of that.  If the search ends here, nobody looks at what it finds
        there."""
        self.deliver_rounds()
        ahead = [self.ask_to_expand(self.level + 1, budget)] if len(self.at_work) > 1 else []
        self.await_deliveries()
        self.require_complete()
        if self.is_out_of_memory():
            return self.conductor.out_of_memory()
        states = self.states
        if self.conductor.settle() or states == self.known:
            return True
        self.left = states - self.known
        if len(self.at_work) < self.crew.size and self.is_large():
            self.share_out()
        self.known, self.rounds = states, ahead
        self.level += 1
        return self.is_out_of_memory() and self.conductor.out_of_memory()

    def is_large(self) -> bool:
        """Whether one worker should not go on alone."""
        return self.left >= self.shared_level or self.reports[0].is_crowded

    def share_out(self) -> None:
        """Let every worker have its share of the states known so far."""
        workers = range(self.crew.size)
        placement, *shares = self.crew.ask(0, "hand_out", answers=1 + self.crew.size)
        taken = [
            self.crew.ask(worker, "take_over", placement, shares[worker])[0] for worker in workers
        ]
        before, self.at_work = self.states, workers
        self.look_at(self.crew.get(taken))
        if self.states != before and not self.is_out_of_memory():
            raise InternalError(f"of {before:,} states {self.states:,} were shared out")

    def deliver_rounds(self) -> None:
        """Have everything delivered that was found in this level."""
        while self.rounds:
            following = self.rounds.pop(0)
            self.deliver(following)
            self.look_at(self.crew.get(following.reports))

    def await_deliveries(self) -> None:
        """Wait until everything that was sent in this level has been stored."""
        for handles in self.stored:
            self.look_at(self.crew.get(handles))
        self.stored.clear()

    def require_complete(self) -> None:
        """Make sure that all states known so far are expanded, and no batch is under way."""
        sent = self.total(lambda report: sum(report.sent))
        received = self.total(lambda report: report.received)
        if sent != received:
            raise InternalError(f"of {sent:,} states that workers have sent {received:,} have come")
        expanded = self.total(lambda report: report.expanded)
        if expanded != self.known:
            raise InternalError(f"a level ends with {expanded:,} of {self.known:,} states expanded")

    def is_out_of_memory(self) -> bool:
        return any(report.out_of_memory for report in self.reports.values())

    # --- what was found -----------------------------------------------------------------------

    def look_at(self, reports: Sequence[PartReport]) -> None:
        """Take over reports, one of each worker, and examine what they have found."""
        for worker, report in enumerate(reports):
            known = self.reports.get(worker)
            if known is None or known.serial < report.serial:
                self.reports[worker] = report
        if len(self.at_work) == 1:
            self.level, self.known = max(reports[0].level, 0), max(reports[0].known, 1)
        for report in reports:
            for finding in report.findings:
                self.examine(finding)

    def examine(self, found: PartFinding) -> None:
        conductor, level = self.conductor, self.level
        words, move = list(found.words), found.move

        def path() -> tuple[Move, ...]:
            return self.path(level, words)

        match found.kind:
            case blocks.FAULT:
                conductor.rank = (level + 1, "fault", found.words, move.thread, move.choice)
                conductor.confirm_fault(words, move, path)
            case blocks.STUCK:
                conductor.rank = (level, "deadlock", found.words, 0, 0)
                conductor.examine_stuck(words, path)
            case blocks.QUIET if not conductor.hang_found:
                conductor.rank = (level, "hang", found.words, 0, 0)
                conductor.examine_quiet(words, path)
            case blocks.RACE:
                conductor.rank = (level, "race", found.words, 0, 0)
                conductor.confirm_race(words, path)

    def path(self, level: int, words: Sequence[int]) -> tuple[Move, ...]:
        """Find the schedule to a state of a level by going back, level by level."""
        moves: list[Move] = []
        for before in reversed(range(level)):
            self.observer.message(f"going back from level {before + 1:,}")
            asked = [self.crew.ask(each, "go_back", before, words)[0] for each in self.at_work]
            found = [each for each in self.crew.get(asked) if each is not None]
            if not found:
                raise InternalError("a state of a level has no predecessor in the one before")
            words, move = min(found, key=lambda each: (each[0], each[1].thread, each[1].choice))
            moves.append(move)
        return tuple(reversed(moves))

    # --- what the search has ------------------------------------------------------------------

    @property
    def states(self) -> int:
        return self.total(lambda report: report.states)

    def total(self, number: Callable[[PartReport], int]) -> int:
        return sum(map(number, self.reports.values()))

    def count(self) -> None:
        """Keep the books."""
        ends = 0
        for report in self.reports.values():
            ends |= report.ends
        self.conductor.stops.ended_freely = bool(ends & blocks.ENDS_FREELY)
        statistics = Statistics(
            states=self.states,
            transitions=self.total(lambda report: report.transitions),
            depth=self.level,
            table_bytes=self.total(lambda report: report.table_bytes),
            peak_bytes=self.total(lambda report: report.peak_bytes),
        )
        other = self.total(lambda report: report.other_bytes)
        self.conductor.count(statistics, other_bytes=other)
