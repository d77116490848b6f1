"""A cluster within this process: the same parts and the same messages, without Ray.

What workers are asked is done when somebody waits for an answer, or later: who goes on next is
drawn by chance, as on a real cluster, where nobody knows who is faster.  A worker does what it is
asked in order.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from mazurka.cluster.crew import LostWorkerError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.cluster.part import PartOptions, StatePart
from mazurka.stateful.cluster.search import ClusterSearch
from mazurka.stateful.quotient import code_for
from tests.soundness.shared_searches import Search


class Handle:
    """Stands for an answer that there may not be yet."""

    answer: Any = None
    ready = False


class LocalCrew:
    """Workers within this process (`mazurka.cluster.crew`)."""

    def __init__(self, subjects: Sequence[Any], *, seed: int = 0) -> None:
        """`subjects`: the object that each worker has."""
        self.subjects = list(subjects)
        self.size = len(self.subjects)
        self.chance = random.Random(seed)
        self.queues: list[deque[tuple[str, Sequence[Any], list[Handle]]]] = [
            deque() for _ in range(self.size)
        ]
        self.lost: set[int] = set()

    def ask(self, worker: int, method: str, *given: Any, answers: int = 1) -> list[Handle]:
        handles = [Handle() for _ in range(answers)]
        self.queues[worker].append((method, given, handles))
        return handles

    def get(self, handles: Sequence[Handle]) -> list[Any]:
        while not all(handle.ready for handle in handles):
            self.go_on()
        return [handle.answer for handle in handles]

    def find_ready(self, handles: Sequence[Handle], seconds: float) -> list[Handle]:
        while not any(handle.ready for handle in handles):
            self.go_on()
        return [handle for handle in handles if handle.ready]

    def can_go_on(self, worker: int) -> bool:
        if worker in self.lost or not self.queues[worker]:
            return False
        _, given, _ = self.queues[worker][0]
        return all(each.ready for each in given if isinstance(each, Handle))

    def go_on(self) -> None:
        """Let some worker do the next thing that it was asked."""
        able = [worker for worker in range(self.size) if self.can_go_on(worker)]
        if not able:
            raise LostWorkerError("nobody answers")
        worker = self.chance.choice(able)
        method, given, handles = self.queues[worker].popleft()
        values = [each.answer if isinstance(each, Handle) else each for each in given]
        found = getattr(self.subjects[worker], method)(*values)
        for handle, answer in zip(handles, found if len(handles) > 1 else [found], strict=True):
            handle.answer = answer.copy() if isinstance(answer, np.ndarray) else answer
            handle.ready = True


def make_parts(program: Program, options: SearchOptions, workers: int) -> list[StatePart]:
    """A part of the states for each worker."""
    asked = PartOptions(
        properties=options.properties,
        symmetry=options.symmetry,
        limit_bytes=options.limit_bytes,
        parts=workers,
    )
    return [StatePart(program, asked, number) for number in range(workers)]


def by_parts(
    workers: int, seed: int = 0, kind: type[ClusterSearch] = ClusterSearch, shared_level: int = 1
) -> Search:
    """The search by so many parts, once a level has so many states."""

    def search(program: Program, options: SearchOptions) -> SearchResult:
        crew = LocalCrew(make_parts(program, options, workers), seed=seed)
        found = kind(code_for(program, options), options, Silent(), crew)
        found.shared_level = shared_level
        return found.run()

    return search
