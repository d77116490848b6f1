"""Deliberately broken context-bounded searches: brute force must tell each from ours.

A mutant is caught if, for some random program and some bound, the executions that it completes are
not those within the bound, each once, or if it notices itself that something cannot be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mazurka.errors import MazurkaError
from mazurka.stateless.bounded.context_bound import Bounds
from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.bounded.recording import Recording, Touched
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import find_search
from tests.soundness.simulated_threads import random_program, resting_program
from tests.soundness.whole_runs import Execution, Watched, executions
from tests.unit.stateless.simulated import Body, Simulated, World

BOUNDS = (0, 1, 2, None)
SCHEDULES = 300
ALL = RunOptions(stop_at_first=False, max_steps=60)

able, action, cut, of = Graph.able, Recording.action, Recording.cut, Bounds.of
within = Bounds.within


def programs() -> Iterator[tuple[Simulated, dict[Execution, int]]]:
    for seed in range(60):
        for program in (random_program(seed), resting_program(seed), sleepers(1 + seed % 3)):
            whole = executions(program, SCHEDULES)
            if whole is not None:
                yield program, whole


def sleepers(rests: int) -> Simulated:
    """Two threads that sleep before they write: one of them more than once."""

    def body(rests: int) -> Callable[[World], Body]:
        def resting(world: World) -> Body:
            for _ in range(rests):
                yield world.nothing(yields=True)
            yield world.write("x", 1)

        return resting

    return Simulated([body(rests), body(1)])


def disagrees(program: Simulated, whole: dict[Execution, int]) -> bool:
    for bound in BOUNDS:
        watched = Watched(program)
        try:
            find_search("algorithm-2")(watched, ALL).explore(bound)
        except (MazurkaError, KeyError, IndexError):
            return True
        expected = [ran for ran, least in whole.items() if bound is None or least <= bound]
        if Counter(watched.completed) != Counter(expected):
            return True
    return False


def blocked_threads_are_preempted(self: Graph, here: int) -> tuple[int, int, int]:
    everybody = (1 << len(self.lines)) - 1
    enabled, _, again = able(self, here)
    return enabled, everybody, again


def time_is_free(self: Bounds, thread: int) -> int:
    return of(Bounds(self.enabled, self.others, self.arrivals, 0), thread)


def nobody_takes_turns(self: Graph, here: int) -> tuple[int, int, int]:
    enabled, stays, hasty = able(self, here)
    return enabled, stays, hasty if stays else 0


def closed_too_early(self: Bounds, bound: int) -> int:
    return max(within(self, bound) - 1, 1)


def reads_order_nothing(self: Recording, number: int) -> int:
    return 0


def without_versions(self: Recording, thread: int, touched: Touched) -> StateHash:
    writes, self.writes = self.writes, [0] * len(self.writes)
    try:
        return action(self, thread, touched)
    finally:
        self.writes = writes


def rests_are_forgotten(self: Recording, count: int) -> None:
    cut(self, count)
    self.rests = 0


MUTANTS: dict[str, tuple[type, str, Callable[..., Any]]] = {
    "a switch from a blocked thread is a preemption": (
        Graph,
        "able",
        blocked_threads_are_preempted,
    ),
    "time passes for free": (Bounds, "of", time_is_free),
    "those who sleep need not take turns": (Graph, "able", nobody_takes_turns),
    "Mark before the last step": (Bounds, "within", closed_too_early),
    "a write does not come after reads": (Recording, "_past_of_reads", reads_order_nothing),
    "actions without versions": (Recording, "action", without_versions),
    "rests before a cut are forgotten": (Recording, "cut", rests_are_forgotten),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, method, replacement = MUTANTS[name]
    monkeypatch.setattr(owner, method, replacement)
    assert any(disagrees(program, whole) for program, whole in programs())


def test_the_original_is_not() -> None:
    assert not any(disagrees(program, whole) for program, whole in programs())
