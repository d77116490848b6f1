"""The solver in another process: models, assumptions, and that it can be stopped."""

from __future__ import annotations

import sys
import threading
from itertools import combinations

import numpy as np
import pytest

from mazurka.symbolic.solving import solver as solving
from mazurka.symbolic.solving.solver import SatSolver, SolverFailure


class Enough(Exception):  # noqa: N818 - raised to stop a solver
    pass


def give_up(solver: SatSolver) -> None:
    raise Enough


def add_pigeons(solver: SatSolver, holes: int) -> None:
    """One pigeon more than there are holes: no solver of this kind comes to an end soon."""

    def sits(pigeon: int, hole: int) -> int:
        return pigeon * holes + hole + 1

    for pigeon in range(holes + 1):
        solver.add_clause([sits(pigeon, hole) for hole in range(holes)])
    for hole in range(holes):
        for one, other in combinations(range(holes + 1), 2):
            solver.add_clause([-sits(one, hole), -sits(other, hole)])


def solve_pigeons(solver: SatSolver) -> None:
    with solver:
        add_pigeons(solver, 14)
        solver.solve()


def test_models_and_assumptions() -> None:
    with SatSolver() as solver:
        solver.add(np.array([1, 2, 0, -1, 3, 0], np.int32))
        assert solver.solve([1])
        assert solver.values([1, 3, 77]) == [1, 1, 0]
        assert not solver.solve([1, -3])
        assert solver.solve([-3])
        assert solver.values([1, 2]) == [0, 1]
        assert solver.clauses == 2
        if sys.platform == "linux":
            assert 2**20 < solver.resident_bytes() < 2**32
        assert 0 <= solver.processor_seconds() < 2**10


def test_a_process_is_used_again_and_remembers_nothing() -> None:
    with SatSolver() as first:
        first.add_clause([1])
        process = first._process
    with SatSolver() as second:
        assert second._process is process
        assert second.solve([-1])


def test_a_solver_at_work_is_killed() -> None:
    with pytest.raises(Enough):
        solve_pigeons(solver := SatSolver(waiting=give_up))
    assert solver._process.process.poll() is not None
    assert solver._process not in solving._idle


def test_a_process_that_ends_is_noticed() -> None:
    with SatSolver() as solver:
        solver._process.process.kill()
        solver._process.process.wait()
        with pytest.raises(SolverFailure):
            solver.solve()
    assert solver._process not in solving._idle


def test_no_thread_stays_with_a_process_that_is_kept() -> None:
    before = threading.active_count()
    with SatSolver() as solver:
        solver.add_clause([1])
        assert solver.solve()
    assert threading.active_count() == before
