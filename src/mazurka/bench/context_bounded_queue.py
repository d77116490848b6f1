"""Paper 001's Table 1: executions of the work-stealing queue, by context bound and size.

The paper's driver is not public; it is described in two sentences.  Ours is there twice, as a model
and as real Python code (`models/work_stealing.py`, `programs/work_stealing.py`), with the same
accesses to head, tail, slots and lock in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mazurka.bench.programs import DIRECTORY
from mazurka.errors import MazurkaError
from mazurka.frontend.python import load_model
from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.runtime.exploring.exploration import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.testing.collecting import collect
from mazurka.stateless import iterative
from mazurka.stateless.algorithm2 import Algorithm2
from mazurka.stateless.cb_dfs import ContextBoundedDFS
from mazurka.stateless.explored import INTERRUPTED, Level, RunOptions
from mazurka.stateless.ir_runs import IRRuns

MODEL_FILE = Path(__file__).parent / "models" / "work_stealing.py"
CODE_FILE = DIRECTORY / "work_stealing.py"
SIZES = (3, 4, 5)
BOUNDS = (0, 1, 2, 3, 4)
CB_DFS, CB_POR = "cb-dfs", "cb-por"
ALGORITHMS = (CB_DFS, CB_POR)
PUBLISHED = {
    (3, CB_DFS): (2, 46, 756, 8918, 66374),
    (3, CB_POR): (2, 46, 713, 7838, 48828),
    (4, CB_DFS): (2, 54, 898, 12711, 95935),
    (4, CB_POR): (2, 54, 853, 8458, 52572),
    (5, CB_DFS): (2, 67, 1197, 19460, 161637),
    (5, CB_POR): (2, 67, 1136, 14563, 95068),
}
"""Terminal executions at bounds 0 to 4, as the paper prints them."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number of the table; nothing is known where a limit came first."""

    bound: int
    executions: int | None = None
    seconds: float | None = None
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Column:
    """One search: an algorithm on the queue of one size, at all bounds."""

    subject: str
    """`model` or `code`."""
    size: int
    algorithm: str
    cells: tuple[Cell, ...]

    def executions(self, bound: int) -> int | None:
        return next((cell.executions for cell in self.cells if cell.bound == bound), None)


class RemembersSteps(Interpreter):
    """Takes each step from each state once: schedules meet the same states over and over."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._known: dict[tuple[State, int, int], Step] = {}

    def step(self, state: State, thread: int, choice: int = 0) -> Step:
        key = state, thread, choice
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = super().step(state, thread, choice)
        return found


def model_runs(size: int, steals: int = 2) -> IRRuns:
    """The model as a program that can be run again and again."""
    runs = IRRuns(prepare(load_model(MODEL_FILE, {"SIZE": str(size), "STEALS": str(steals)})))
    runs.interpreter = RemembersSteps(runs.program)
    return runs


def search_model(size: int, algorithm: str, bound: int, seconds: float) -> Column:
    name = {CB_DFS: ContextBoundedDFS.name, CB_POR: Algorithm2.name}[algorithm]
    limits = RunOptions(limit_seconds=seconds)
    explored = iterative.explore(model_runs(size), bound, name, limits)
    if explored.failures:
        raise MazurkaError(f"the model fails: {explored.failures[0].failed.message}")
    cells = cells_of(explored.levels, explored.limits, bound)
    return Column(subject="model", size=size, algorithm=algorithm, cells=cells)


def search_code(size: int, algorithm: str, bound: int, seconds: float) -> Column:
    strategy = {CB_DFS: "cb-dfs", CB_POR: "algorithm2"}[algorithm]
    (found,) = collect(f"{CODE_FILE}::test_size_{size}")
    options = ExploreOptions(strategy=strategy, preemptions=bound, seconds=seconds)
    result = explore_test(found.test, options)
    if result.error is not None:
        raise result.error
    if result.violation is not None:
        raise MazurkaError(f"the code fails: {result.violation.message}")
    cells = cells_of(result.levels, result.limits, bound)
    return Column(subject="code", size=size, algorithm=algorithm, cells=cells)


SUBJECTS: dict[str, Callable[[int, str, int, float], Column]] = {
    "model": search_model,
    "code": search_code,
}


def cells_of(levels: Sequence[Level], limits: tuple[str, ...], bound: int) -> tuple[Cell, ...]:
    """One cell for each bound.  Where a search ended early because all was seen, nothing is new."""
    if INTERRUPTED in limits:
        raise KeyboardInterrupt
    cells = [
        Cell(bound=number, executions=level.executions, seconds=level.seconds)
        for number, level in enumerate(levels)
        if level.complete
    ]
    for number in range(len(cells), bound + 1):
        if limits:
            cells.append(Cell(bound=number, limits=limits))
        else:
            cells.append(Cell(bound=number, executions=cells[-1].executions, seconds=0.0))
    return tuple(cells)
