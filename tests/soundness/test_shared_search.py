"""Algorithm 2 by several searches that share H, against brute force, whatever the turns they take.

Here the searches are threads of one process, of which one runs at a time; at each scheduling point
of each of their runs another one may be drawn to go on.  Real processes meet at the same places:
they look into H at any moment, and mark under a lock.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from mazurka.runtime.exploring.workers.search import SharedAlgorithm2
from mazurka.runtime.exploring.workers.table import EXECUTIONS, SharedTable
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.runs import Decider, Ended, Operation
from tests.soundness.amounts import shares
from tests.soundness.simulated_threads import random_program
from tests.soundness.whole_runs import Execution, Watched, executions

PROGRAMS = shares(60)
PORTION = 20
SCHEDULES = 900
STATES = 50_000
ALL = RunOptions(stop_at_first=False)

portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))


class Turns:
    """Lets one of several threads run at a time, and draws the next one by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._moment = threading.Condition()
        self._running: list[int] = []
        self._turn = 0
        self.errors: list[BaseException] = []

    def change(self, me: int) -> None:
        """Another thread may go on, and this one later."""
        with self._moment:
            self._turn = self._chance.choice(self._running)
            self._moment.notify_all()
            self._moment.wait_for(lambda: self._turn == me)

    def all_of(self, works: Sequence[Callable[[], object]]) -> None:
        """Do it all, in turns."""
        self._running = list(range(len(works)))
        self._turn = self._chance.choice(self._running)
        threads = [
            threading.Thread(target=self._do, args=(number, work), daemon=True)
            for number, work in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _do(self, me: int, work: Callable[[], object]) -> None:
        with self._moment:
            self._moment.wait_for(lambda: self._turn == me)
        try:
            work()
        except BaseException as error:
            self.errors.append(error)
        with self._moment:
            self._running.remove(me)
            self._turn = self._chance.choice(self._running) if self._running else -1
            self._moment.notify_all()


class Interrupted:
    """A program (`Runnable`) in whose runs others may get their turn."""

    def __init__(self, program: Watched, me: int, turns: Turns) -> None:
        self.program = program
        self.me = me
        self.turns = turns

    def run(self, decider: Decider) -> Ended:
        self.turns.change(self.me)
        ended = self.program.run(Changing(decider, self))
        self.turns.change(self.me)
        return ended


class Changing(Decider):
    def __init__(self, decider: Decider, run: Interrupted) -> None:
        self._decider = decider
        self._run = run

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self._run.turns.change(self._run.me)
        return self._decider.decide(pending, enabled, last)

    def over(self, pending: Sequence[Operation | None]) -> None:
        self._decider.over(pending)


class Together:
    """Several searches of one program, and what they have completed."""

    def __init__(self, seed: int, count: int, table: SharedTable) -> None:
        self.table = table
        self.turns = Turns(seed)
        self.watched = [Watched(random_program(seed)) for _ in range(count)]
        self.searches = [
            SharedAlgorithm2(
                Interrupted(watched, index, self.turns),
                ALL,
                table,
                index=index,
                parent=os.getppid(),
                silently=False,
            )
            for index, watched in enumerate(self.watched)
        ]

    def explore(self, bound: int | None) -> None:
        self.table.begin_level()
        for search in self.searches:
            search.bound = bound
        self.turns.all_of([search.prepare for search in self.searches])
        self.turns.all_of([lambda one=one: one.explore(bound) for one in self.searches])

    @property
    def completed(self) -> set[Execution]:
        return {ran for watched in self.watched for ran in watched.completed}


@contextmanager
def together(seed: int, count: int) -> Iterator[Together]:
    table = SharedTable(STATES)
    try:
        yield Together(seed, count, table)
    finally:
        table.close()


@portions
def test_each_level_counts_what_is_within_the_bound(first: int) -> None:
    for seed in range(first, first + PORTION):
        whole = executions(random_program(seed), SCHEDULES)
        if whole is None:
            continue
        with together(seed, 2 + seed % 2) as crew:
            for bound in range(4):
                crew.explore(bound)
                expected = {ran for ran, least in whole.items() if least <= bound}
                assert crew.table.words[EXECUTIONS] == len(expected), (seed, bound)
                assert crew.completed == expected, (seed, bound)
                assert (crew.table.unseen == 0) == (len(expected) == len(whole)), (seed, bound)


@portions
def test_without_a_bound_everything_is_counted_once(first: int) -> None:
    for seed in range(first, first + PORTION):
        whole = executions(random_program(seed), SCHEDULES)
        if whole is None:
            continue
        with together(seed, 2 + seed % 2) as crew:
            crew.explore(None)
            assert crew.table.words[EXECUTIONS] == len(whole), seed
            assert crew.completed == set(whole), seed
