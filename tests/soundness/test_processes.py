"""Processes that compare can be ended at any moment, and none dies unseen."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import count

from tests.limits import ENOUGH
from tests.soundness.processes import Lost, WorkingProcesses

DIES, STAYS = 3, 5


def work(number: int) -> Iterator[tuple[int, int]]:
    """Answer twice; one number ends the process in between, and one is never done."""
    yield number, os.getpid()
    if number == DIES:
        os._exit(9)
    while number == STAYS:
        time.sleep(ENOUGH)
    yield -number, os.getpid()


def test_a_process_that_dies_is_told_and_the_others_go_on() -> None:
    with WorkingProcesses(work, 1) as processes:
        found = list(processes.answers((1, DIES, 4), ENOUGH))
    told = [each if isinstance(each, Lost) else each and each[0] for each in found]
    assert told == [1, -1, DIES, Lost(DIES, 9), 4, -4]


def test_processes_at_work_are_killed_at_the_end() -> None:
    with WorkingProcesses(work, 1) as processes:
        for answer in processes.answers(count(STAYS), 0.01):
            if answer is not None:
                break
        (worker,) = processes.workers
        assert worker.process.is_alive()
    assert worker.process.exitcode == -9
    assert not processes.workers
