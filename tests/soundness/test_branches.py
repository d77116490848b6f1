"""Searches over schedules by several workers find what one process finds, on random programs.

The workers are in this process, and take turns by chance.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from mazurka.cluster.crew import LostWorkerError
from mazurka.deadline import TimeLimitError
from mazurka.ir.program import Program
from mazurka.search import LOST_WORKER
from mazurka.stateless import branches
from mazurka.stateless.branches import BranchSearch, BranchTurn, BranchWorker, find_branches
from mazurka.stateless.explored import TIME, Explored, RunOptions
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from tests.soundness.amounts import shares
from tests.soundness.cluster_searches import LocalCrew
from tests.soundness.reductions import Subject
from tests.soundness.schedules import explored_if_it_ends
from tests.unit.ir.programs import crossed_locks

ALL = RunOptions(stop_at_first=False)
FIRST = RunOptions()
STATES = 400
DIVIDED = ("sleep-sets", "dpor", "source-dpor")


def alone(name: str, program: Program, options: RunOptions) -> Explored:
    return REDUCTIONS[name](IRExecution(program), options).run()


def together(name: str, program: Program, options: RunOptions, seed: int = 0) -> Explored:
    crew = LocalCrew([BranchWorker(program, name, options, None)] * 3, seed=seed)
    return BranchSearch(program, options, crew, lambda found: None).run()


def sorts(found: Explored) -> set[tuple[object, ...]]:
    """The failures, whatever their schedules."""
    failed = [each.failed for each in found.failures]
    return {(each.kind, each.message, each.file, each.line) for each in failed}


def counts(found: Explored) -> tuple[object, ...]:
    return found.executions, found.abandoned, found.steps, found.depth, found.limits


def test_branches_change_nothing() -> None:
    compared = 0
    for seed in range(71_000, 71_000 + shares(10)):
        program = Subject(seed).program()
        if explored_if_it_ends(program, STATES) is None:
            continue
        compared += 1
        for name in DIVIDED:
            expected, found = alone(name, program, ALL), together(name, program, ALL, seed)
            assert found.executions == expected.executions, (seed, name)
            assert sorts(found) == sorts(expected), (seed, name)
        assert counts(together("sleep-sets", program, ALL, seed)) == counts(
            alone("sleep-sets", program, ALL)
        )
        # With sleep sets alone, the first failure is that of one process, found by as many runs.
        expected, found = (
            alone("sleep-sets", program, FIRST),
            together("sleep-sets", program, FIRST),
        )
        assert counts(found) == counts(expected), seed
        assert [each.schedule for each in found.failures] == [
            each.schedule for each in expected.failures
        ], seed
    assert compared > shares(10) // 6


# --- what would be noticed --------------------------------------------------------------------


class BranchedTrees(WakeupTrees):
    """Optimal reduction within a branch, which is refused: runs are given up."""

    def choose_in_branch(self, position: int) -> object:  # type: ignore[override]
        action = super().choose_in_branch(position)
        if action is not None and position < len(self.turns):
            self.trees[position].append([action])
        return action


def test_optimal_reduction_loses_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REDUCTIONS, WakeupTrees.name, BranchedTrees)
    program = Subject(70_152).program()
    expected = alone("optimal-dpor", program, ALL).executions
    assert together("source-dpor", program, ALL).executions == expected
    assert together("optimal-dpor", program, ALL).executions < expected


def test_without_what_sleeps_executions_are_explored_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Subject(70_020).program()
    expected = together("sleep-sets", program, ALL).executions

    def forget(program: Program, wanted: int) -> list[tuple[BranchTurn, ...]]:
        found = find_branches(program, wanted)
        return [tuple(BranchTurn(turn.move) for turn in branch) for branch in found]

    monkeypatch.setattr(branches, "find_branches", forget)
    assert together("sleep-sets", program, ALL).executions > expected


def test_a_lost_branch_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Subject(70_020).program()
    expected = together("source-dpor", program, ALL).executions
    monkeypatch.setattr(branches, "find_branches", lambda *given: find_branches(*given)[1:])
    assert together("source-dpor", program, ALL).executions < expected


def test_a_lost_worker_leaves_it_open() -> None:
    program = replace(Subject(70_020).program())

    class Losing(LocalCrew):
        def get(self, handles: list[object]) -> list[object]:  # type: ignore[override]
            raise LostWorkerError("it has gone")

    crew = Losing([BranchWorker(program, "source-dpor", ALL, None)] * 2)
    search = BranchSearch(program, ALL, crew, lambda found: None)
    assert search.run().limits == (LOST_WORKER,)
    assert search.notes == ("a worker was lost: it has gone",)


def test_a_time_limit_leaves_what_was_found() -> None:
    program = replace(Subject(70_020).program())

    class Late(LocalCrew):
        answered = 0

        def find_ready(self, handles: list[object], seconds: float) -> list[object]:  # type: ignore[override]
            self.answered += 1
            if self.answered > 2:
                raise TimeLimitError("late")
            return list(super().find_ready(handles, seconds))  # type: ignore[arg-type]

    crew = Late([BranchWorker(program, "source-dpor", ALL, None)] * 2)
    found = BranchSearch(program, ALL, crew, lambda found: None).run()
    assert found.limits == (TIME,)
    assert 0 < found.runs < together("source-dpor", program, ALL).runs


def test_a_deadlock_ends_the_search() -> None:
    found = together("source-dpor", crossed_locks(), FIRST)
    assert [each.failed.kind for each in found.failures] == ["deadlock"]
