"""Figures of paper 001: why the two reductions cannot just be put together, and how they can.

M. Musuvathi and S. Qadeer, *Partial-Order Reduction for Context-Bounded State Exploration*.
"""

from __future__ import annotations

import pytest

from mazurka.ir.program import Program
from mazurka.stateless.bounded.context_bound import ContextBounds, cost_of, least_cost
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import ALGORITHMS, DEFAULT, find_search
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.actions import Action
from mazurka.stateless.reduction.sleep_sets import SleepSets
from mazurka.stateless.runs import Ended
from tests.unit.ir.programs import Builder, put
from tests.unit.stateless.bodies import read_modify_write, reads, recorded, writes
from tests.unit.stateless.simulated import Body, Simulated, World

ALL = RunOptions(stop_at_first=False)


def figure_1() -> Simulated:
    """T1: x := 1; y := 1.  T2: y := 2."""

    def first(world: World) -> Body:
        yield world.write("x", 1)
        yield world.write("y", 1)

    def second(world: World) -> Body:
        yield world.write("y", 2)

    return Simulated([first, second])


def figure_1_model() -> tuple[Program, int]:
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 2)
    builder.thread().line(put(x, 1), put(y, 1))
    builder.thread().line(put(y, 2))
    return builder.program(), y


MOST = 0
"""The bound of the naive combination."""


class NaiveCombination(SleepSets):
    """Sleep sets, and in addition no step that makes one preemption too many."""

    def choose(self, position: int) -> Action | None:
        awake = self.nodes[position].awake()
        return next((a for a in awake if self.preemptions(position, a) <= MOST), None)

    def preemptions(self, position: int, last: Action) -> int:
        taken = [action.thread for action in self.trace.actions[:position]]
        taken.append(last.thread)
        return sum(
            taken[place] != taken[place + 1]
            and any(action.thread == taken[place] for action in self.nodes[place + 1].enabled)
            for place in range(position)
        )


def final_values(kind: type[SleepSets]) -> set[int]:
    program, y = figure_1_model()
    execution = IRExecution(program)
    seen: set[int] = set()

    class Watched(kind):  # type: ignore[misc, valid-type]
        def note_end(self, end: Ended) -> None:
            super().note_end(end)
            seen.add(execution.state[y])

    Watched(execution).run()
    return seen


def test_figure_1_the_naive_combination_misses_an_execution() -> None:
    """T1 first: x := 1 sleeps when T2 starts, for y := 2 does not depend on it; and y := 2 between
    the steps of T1 would be a preemption.  Yet y := 2, x := 1, y := 1 has none."""
    assert final_values(SleepSets) == {1, 2}
    assert final_values(NaiveCombination) == {2}


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_figure_1_the_algorithms_do_not(algorithm: str) -> None:
    seen: set[int] = set()
    program = figure_1()
    program.at_end = lambda world: seen.add(world.values["y"])
    level = find_search(algorithm)(program, ALL).explore(0)
    assert level.executions == 2
    assert seen == {1, 2}


def test_figure_2_a_step_may_lower_the_context_bound() -> None:
    """T1: x := 1; y := 1.  T2 reads x.  After x := 1 and the read T1 has been preempted; after
    y := 1, too, it need not have been: the read can come last."""
    graph, _ = recorded(Simulated([writes("x", "y"), reads("x")]), (0, 1, 0))
    bounds = ContextBounds(graph)
    assert least_cost(bounds.here()) == 0, "state d"
    graph.back(0)
    assert least_cost(bounds.here()) == 1, "state c"
    assert cost_of(bounds.here(), 0) == 1, "the step from c to d is not within the bound"
    graph.back(1)
    graph.forth(0)
    assert least_cost(bounds.here()) == 0, "state e"
    assert cost_of(bounds.here(), 1) == 0, "and this is how d is reached"


def test_the_reduced_search_never_has_more_executions() -> None:
    """Claims of Table 1: cb-por ≤ cb-dfs at every bound, with equality where bounds are small."""
    program = Simulated([read_modify_write(2), read_modify_write(2)])
    rows = [
        [find_search(name)(program, ALL).explore(bound).executions for name in ("cb-dfs", DEFAULT)]
        for bound in range(7)
    ]
    assert all(reduced <= every for every, reduced in rows)
    assert rows[0] == [2, 2]
    assert rows[-1] == [70, 34], "all interleavings of four and four steps; up to swapped reads"
