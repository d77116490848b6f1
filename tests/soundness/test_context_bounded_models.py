"""The searches of paper 001 on random models: against brute force, and against the traces that the
older searches over schedules are held to."""

from __future__ import annotations

import functools

import pytest

from mazurka.ir.program import DEAD_ENDS, Program
from mazurka.stateful.reference.full import StateSpace as Whole
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import explore, find_search
from mazurka.stateless.models.runs import IRRuns
from tests.soundness.reductions import Subject
from tests.soundness.schedules import explored_if_it_ends, terminal_traces
from tests.soundness.whole_runs import Execution, Logged, Watched, executions

STATES = 400
PREFIXES = 1500
SCHEDULES = 600
PROGRAMS = 120
PORTION = 20
ALL = RunOptions(stop_at_first=False)

# The tests of one portion follow each other, so that its programs are made and explored once.
portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION), scope="module")


@functools.cache
def programs(first: int) -> list[tuple[str, Program, Whole]]:
    """Programs of a portion without choices that are small and have an end."""
    found = []
    for seed in range(first, first + PORTION):
        subject = Subject(seed)
        program = subject.program()
        if any(edge.choices > 1 for edge in program.edges):
            continue
        whole = explored_if_it_ends(program, STATES)
        if whole is None or any(report.fault in DEAD_ENDS for _, _, report in whole.faults):
            continue  # nothing is known behind a step without an end
        found.append((str(subject), program, whole))
    return found


@portions
def test_executions_are_the_traces_and_show_all_failures(first: int) -> None:
    for name, program, whole in programs(first):
        traces = terminal_traces(program, PREFIXES)
        if traces is None:
            continue
        for algorithm in ("algorithm-1", "algorithm-2"):
            explored = explore(IRRuns(program), None, algorithm, ALL)
            assert explored.executions == len(traces), (name, algorithm)
            assert explored.exhaustive, (name, algorithm)
            kinds = {failing.failed.kind for failing in explored.failures}
            assert kinds - {"deadlock"} == whole.kinds - {"deadlock"}, (name, algorithm)
            assert ("deadlock" in kinds) == bool(whole.deadlocks), (name, algorithm)


@portions
def test_each_execution_within_the_bound_is_completed_once(first: int) -> None:
    for name, program, _ in programs(first):
        logged = Logged(IRRuns(program))
        whole = executions(logged, SCHEDULES)
        if whole is None:
            continue
        for bound in (0, 1, 2, 3, None):
            expected = {ran for ran, least in whole.items() if bound is None or least <= bound}
            for algorithm in ("algorithm-1", "algorithm-2", "cb-dfs"):
                found = completed(logged, algorithm, bound)
                assert set(found) == expected, (name, algorithm, bound)
                once = len(found) == len(expected)
                assert once or algorithm == "cb-dfs", (name, algorithm, bound)


def completed(program: Logged, algorithm: str, bound: int | None) -> list[Execution]:
    watched = Watched(program)
    assert find_search(algorithm)(watched, ALL).explore(bound).complete
    return watched.completed


def test_programs_are_varied() -> None:
    found = [entry for first in range(0, PROGRAMS, PORTION) for entry in programs(first)]
    assert len(found) > PROGRAMS // 5
    assert any(whole.deadlocks for _, _, whole in found)
