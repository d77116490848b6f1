"""Levels and shortest schedules: what breadth-first search adds to the counts."""

from __future__ import annotations

import pytest
from searching import search, shows
from tests.unit.ir.programs import Builder, crossed_locks, load, modular_counters, plus, put

from mazurka.ir.expressions import Binary, Const
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Program
from mazurka.stateful.reference.full import explore


@pytest.mark.parametrize(("threads", "modulus"), [(1, 7), (3, 4), (5, 3)])
def test_depth_is_the_number_of_levels(threads: int, modulus: int) -> None:
    """The farthest state has every counter at its last value: threads * (modulus - 1) moves."""
    result = search(modular_counters(threads, modulus), "bfs")
    assert result.statistics.depth == threads * (modulus - 1)


def distant_sum(threads: int, total: int) -> Program:
    """Counters that climb to 3, and a thread that fails when they add up to `total`."""
    builder = Builder()
    cells = []
    for number in range(threads):
        body = builder.thread()
        cell = builder.shared(f"c{number}", 0, 3)
        cells.append(cell)
        here = body.at()
        body.edge(here, here, put(cell, plus(cell, 1)), guard=Binary("lt", load(cell), Const(3)))
    watcher = builder.thread()
    everything = load(cells[0])
    for cell in cells[1:]:
        everything = Binary("add", everything, load(cell))
    wrong = Check(Binary("lt", everything, Const(total)), Fault.ASSERT, "too many")
    watcher.edge(watcher.at(), FINISHED, wrong, kind=Kind.ASSERT)
    return builder.program()


@pytest.mark.parametrize("total", [1, 4, 9])
def test_schedules_are_the_shortest(total: int) -> None:
    """`total` moves of counters, then the one that fails."""
    program = distant_sum(3, total)
    violation = search(program, "bfs", "assert").violation
    assert violation is not None
    assert shows(program, violation)
    assert len(violation.path) == total + 1


def test_a_sum_that_cannot_be_reached() -> None:
    result = search(distant_sum(3, 10), "bfs", "assert")
    assert result.violation is None
    # 4^3 counts, before and behind the watcher's one step
    assert result.statistics.states == 2 * 4**3


def test_a_deadlock_is_reported_by_a_shortest_schedule() -> None:
    program = crossed_locks()
    violation = search(program, "bfs", "deadlock").violation
    assert violation is not None
    reference = explore(program)
    assert len(violation.path) == len(reference.path_to(reference.deadlocks[0])) == 2
    assert shows(program, violation)


def test_the_order_of_the_search_does_not_change_the_counts() -> None:
    program = distant_sum(4, 20)
    first, second = (search(program, order, "assert").statistics for order in ("bfs", "dfs"))
    assert (first.states, first.transitions) == (second.states, second.transitions)
    assert first.states == 2 * 4**4
