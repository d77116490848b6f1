"""Deliberately broken context-bounded searches: brute force must tell each from ours.

A mutant is caught if, for some random program and some bound, the executions that it completes are
not those within the bound, each once, or if it notices itself that something cannot be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from mazurka.errors import MazurkaError
from mazurka.stateless.bounded import algorithm2, happens_before
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import BoundedNode
from mazurka.stateless.bounded.context_bound import NEVER, Bounds, ContextBounds, count_within
from mazurka.stateless.bounded.graph_search import GraphSearch
from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.bounded.recording import Recording, Touched
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import find_search
from mazurka.stateless.preemptions import GivingWay, find_hasty
from tests.soundness.simulated_threads import (
    TURNS,
    planned_program,
    random_program,
    resting_program,
)
from tests.soundness.whole_runs import Execution, Watched, executions, patient_executions
from tests.unit.stateless.simulated import Body, Simulated, World

BOUNDS = (0, 1, 2, None)
SCHEDULES = 300
ALL = RunOptions(stop_at_first=False, max_steps=60)
PATIENT = replace(ALL, early_timeouts=False)

able, able_after, action, cut = Graph.able, Graph.able_after, Recording.action, Recording.cut


@pytest.fixture(autouse=True)
def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python work out all bounds: its mutants are to be caught, whatever ran before."""
    monkeypatch.setattr(ContextBounds, "usual_native_from", NEVER)


def programs() -> Iterator[tuple[Simulated, dict[Execution, int]]]:
    return _programs(executions)


def patient_programs() -> Iterator[tuple[Simulated, dict[Execution, int]]]:
    """With the executions that need no early timeout."""
    return _programs(patient_executions)


def _programs(
    run_all: Callable[[Simulated, int], dict[Execution, int] | None],
) -> Iterator[tuple[Simulated, dict[Execution, int]]]:
    for seed in range(60):
        several = [random_program(seed), resting_program(seed), sleepers(1 + seed % 3)]
        for program in [*several, planned_program(*TURNS[seed])] if seed < len(TURNS) else several:
            whole = run_all(program, SCHEDULES)
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


def disagrees(program: Simulated, whole: dict[Execution, int], options: RunOptions = ALL) -> bool:
    for bound in BOUNDS:
        watched = Watched(program)
        try:
            find_search("algorithm-2")(watched, options).explore(bound)
        except (MazurkaError, KeyError, IndexError):
            return True
        expected = [ran for ran, least in whole.items() if bound is None or least <= bound]
        if Counter(watched.completed) != Counter(expected):
            return True
    return False


def blocked_threads_are_preempted(self: Graph, here: int) -> tuple[int, int, int]:
    everybody = (1 << len(self.lines)) - 1
    enabled, _, again = able(self, here)
    self.any_yields = True  # so that this is asked of every state
    return enabled, everybody, again


def time_is_free(self: Graph, here: int) -> tuple[int, int, int]:
    enabled, stays, _ = able(self, here)
    return enabled, stays, 0


def nobody_looks(self: Graph, event: int, enabled: int, here: int) -> int:
    self.watching = [0] * len(self.watching)
    return able_after(self, event, enabled, here)


def nothing_is_uncovered(self: Graph, event: int) -> Sequence[int]:
    return ()


def nobody_waits(self: Recording, thread: int, needs: int) -> None:
    pass


def haste_is_free(self: ContextBounds, costs: list[int], hasty: int, cost: int) -> None:
    """Leave the costs as they are."""


def nobody_takes_turns(self: Graph, here: int) -> tuple[int, int, int]:
    enabled, stays, hasty = able(self, here)
    return enabled, stays, hasty if stays else 0


def closed_too_early(bounds: Bounds, bound: int) -> int:
    return max(count_within(bounds, bound) - 1, 1)


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


def early_ones_are_enabled(self: Graph, here: int) -> tuple[int, int, int]:
    self.early_timeouts, patient = True, self.early_timeouts
    try:
        return able(self, here)
    finally:
        self.early_timeouts = patient


def nobody_is_ahead(resting: Sequence[GivingWay]) -> list[int]:
    return []


def moments_cost_nothing(resting: Sequence[GivingWay]) -> list[int]:
    return find_hasty([rest._replace(ends=0.0) for rest in resting])


def every_prefix_is_reached(
    self: ContextBounds, frontier: list[int], before: list[StateHash]
) -> tuple[list[int], list[StateHash]]:
    return frontier, before


def switches_are_free(self: BoundedNode, thread: int) -> int:
    return 0


def switches_are_never_worked_out(
    self: GraphSearch, node: BoundedNode, thread: int, bound: int
) -> bool:
    node.taken = node.least + node.adds(thread)
    return node.taken <= bound


def bounds_are_never_needed(self: Algorithm2) -> bool:
    return self.bound is None and not self.terminals


MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a switch from a blocked thread is a preemption": (
        Graph,
        "able",
        blocked_threads_are_preempted,
    ),
    "time passes for free": (Graph, "able", time_is_free),
    "those who sleep need not take turns": (Graph, "able", nobody_takes_turns),
    "a moment that comes later is as cheap as one that comes sooner": (
        happens_before,
        "find_hasty",
        moments_cost_nothing,
    ),
    "Mark before the last step": (algorithm2, "count_within", closed_too_early),
    "those who look at what is written are not asked again": (Graph, "able_after", nobody_looks),
    "what comes last once a step is left out": (Graph, "cover", nothing_is_uncovered),
    "those who need an event are not asked again": (Recording, "wait_for", nobody_waits),
    "who goes on early is as cheap as others": (ContextBounds, "_raise_hasty", haste_is_free),
    "a write does not come after reads": (Recording, "_past_of_reads", reads_order_nothing),
    "actions without versions": (Recording, "action", without_versions),
    "a switch never leaves the bound": (BoundedNode, "adds", switches_are_free),
    "what the present run spends is what has to be spent": (
        GraphSearch,
        "is_within",
        switches_are_never_worked_out,
    ),
    "rests before a cut are forgotten": (Recording, "cut", rests_are_forgotten),
}


PATIENT_MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "early timeouts that are left out can still be reached": (
        Graph,
        "able",
        early_ones_are_enabled,
    ),
    "who waits for a later moment can still go on": (happens_before, "find_late", nobody_is_ahead),
    "every prefix is reached without early timeouts": (
        ContextBounds,
        "_reached",
        every_prefix_is_reached,
    ),
    "without a bound, early timeouts need not be known": (
        Algorithm2,
        "needs_no_bounds",
        bounds_are_never_needed,
    ),
}


@pytest.mark.parametrize("name", PATIENT_MUTANTS)
def test_the_mutant_without_early_timeouts_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, method, replacement = PATIENT_MUTANTS[name]
    monkeypatch.setattr(owner, method, replacement)
    assert any(disagrees(program, whole, PATIENT) for program, whole in patient_programs())


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, method, replacement = MUTANTS[name]
    monkeypatch.setattr(owner, method, replacement)
    assert any(disagrees(program, whole) for program, whole in programs())


def test_the_original_is_not() -> None:
    assert not any(disagrees(program, whole) for program, whole in programs())
