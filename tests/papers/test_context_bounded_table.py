"""Table 1 of paper 001: what it claims, on our driver of the work-stealing queue.

The paper's driver is not public, so its numbers cannot be asked for.  Its claims can: Algorithm 2
(cb-por) runs each partial order once, and never more executions than depth-first search (cb-dfs)
has schedules; at a bound of four it runs far fewer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.bench.context_bounded import (
    ALGORITHMS,
    BOUNDS,
    CB_DFS,
    CB_POR,
    PUBLISHED,
    SIZES,
    SUBJECTS,
    make_queue,
    model_runs,
)
from mazurka.frontend.python import load_model
from mazurka.ir.passes.prepare import prepare
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateless import iterative
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import ContextBoundedDFS
from mazurka.stateless.models.runs import IRRuns
from tests.soundness.whole_runs import Execution, Logged, Watched

MODEL_FILE = make_queue("model", 3, CB_DFS).path
UNLIMITED = 1e9


def completed(size: int, steals: int, bound: int, algorithm: str) -> list[Execution]:
    """The executions of one search at one bound, in order."""
    watched = Watched(Logged(model_runs(size, steals)))
    level = iterative.find_search(algorithm)(watched).explore(bound)
    assert level.complete
    assert level.executions == len(watched.completed)
    return watched.completed


def test_the_table_has_the_paper_s_shape() -> None:
    assert set(PUBLISHED) == {(size, algorithm) for size in SIZES for algorithm in ALGORITHMS}
    assert all(len(numbers) == len(BOUNDS) for numbers in PUBLISHED.values())


@pytest.mark.parametrize("size", SIZES)
def test_the_queue_is_right(size: int) -> None:
    program = prepare(load_model(MODEL_FILE, {"SIZE": str(size)}))
    result = load_strategy("full").run(program, SearchOptions(), Silent())
    assert result.violation is None
    assert not result.limits


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    if head <= end:\n", "    if head <= end + 1:\n"),
        ("        if first + 1 <= tail:\n", "        if first <= tail:\n"),
        ("        head = first\n    return", "    return"),
    ],
    ids=["the owner takes one too many", "the thief takes one too many", "the head stays behind"],
)
def test_a_queue_that_is_wrong_fails(right: str, wrong: str, tmp_path: Path) -> None:
    text = MODEL_FILE.read_text()
    assert right in text
    (tmp_path / "wrong.py").write_text(text.replace(right, wrong, 1))
    explored = iterative.explore(IRRuns(prepare(load_model(tmp_path / "wrong.py", {}))), 2)
    assert explored.failures


@pytest.mark.parametrize(
    ("size", "steals", "bound"), [(2, 1, 0), (2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 1)]
)
def test_each_partial_order_is_run_once(size: int, steals: int, bound: int) -> None:
    schedules = completed(size, steals, bound, ContextBoundedDFS.name)
    orders = completed(size, steals, bound, Algorithm2.name)
    assert len(orders) == len(set(orders))
    assert set(orders) == set(schedules)


@pytest.mark.parametrize("size", SIZES)
def test_there_are_never_more_partial_orders_than_schedules(size: int) -> None:
    search = SUBJECTS["model"]
    schedules = search(size, CB_DFS, 2, UNLIMITED)
    orders = search(size, CB_POR, 2, UNLIMITED)
    for bound in ("bound 0", "bound 1", "bound 2"):
        fewer, more = orders[bound].executions, schedules[bound].executions
        assert fewer is not None
        assert more is not None
        assert fewer <= more


def test_at_bound_four_many_schedules_are_redundant() -> None:
    runs = model_runs(size=2, steals=1)
    schedules = iterative.explore(runs, 4, ContextBoundedDFS.name).levels[-1]
    orders = iterative.explore(runs, 4, Algorithm2.name).levels[-1]
    assert schedules.complete
    assert orders.complete
    assert schedules.bound == 4
    assert schedules.executions >= 1.25 * orders.executions


@pytest.mark.parametrize("size", [3, 4])
def test_model_and_code_have_the_same_partial_orders(size: int) -> None:
    model, code = (SUBJECTS[subject](size, CB_POR, 2, UNLIMITED) for subject in SUBJECTS)
    counts = [code[f"bound {bound}"].executions for bound in range(3)]
    assert None not in counts
    assert counts == [model[f"bound {bound}"].executions for bound in range(3)]
