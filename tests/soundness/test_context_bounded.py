"""The searches of paper 001 against brute force, on random programs of simulated threads.

Algorithm 2 completes exactly the executions within the bound, each once; so does Algorithm 1; and
cb-dfs covers the same ones.  Nothing is left out at any bound, and without one.
"""

from __future__ import annotations

import functools

import pytest

from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.iterative import explore, find_search
from mazurka.stateless.runs import Decider
from tests.soundness.amounts import shares
from tests.soundness.simulated_threads import (
    TURNS,
    late_program,
    planned_program,
    random_program,
    resting_program,
)
from tests.soundness.whole_runs import (
    Execution,
    Watched,
    execution,
    executions,
    patient_executions,
)
from tests.unit.stateless.simulated import Simulated

PROGRAMS = shares(120)
PORTION = 40
SCHEDULES = 900
"""Programs with more schedules are left out."""
PATIENT_SCHEDULES = 300
ALL = RunOptions(stop_at_first=False)
PATIENT = RunOptions(stop_at_first=False, early_timeouts=False)
BOUNDS = (0, 1, 2, 3, None)

# The tests of one portion follow each other, so that its programs are made and explored once.
portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION), scope="module")


@functools.cache
def programs(first: int) -> list[tuple[int, Simulated, dict[Execution, int]]]:
    found = []
    for seed in range(first, first + PORTION):
        several = [random_program(seed), resting_program(seed)]
        if seed % 4 == 0:
            several.append(late_program(seed))
        if seed < len(TURNS):
            several.append(planned_program(*TURNS[seed]))
        for program in several:
            whole = executions(program, SCHEDULES)
            if whole is not None:
                found.append((seed, program, whole))
    return found


def within(whole: dict[Execution, int], bound: int | None) -> set[Execution]:
    return {ran for ran, least in whole.items() if bound is None or least <= bound}


def completed(
    program: Simulated, algorithm: str, bound: int | None, options: RunOptions = ALL
) -> list[Execution]:
    """What one level completes, with nothing known from lower ones."""
    watched = Watched(program)
    level = find_search(algorithm)(watched, options).explore(bound)
    assert level.complete
    assert level.executions == len(watched.completed)
    return watched.completed


def test_programs_are_varied() -> None:
    several = [whole for first in range(0, PROGRAMS, PORTION) for _, _, whole in programs(first)]
    assert len(several) >= 5 * PROGRAMS // 6
    assert max(len(whole) for whole in several) > 40
    assert {0, 1, 2, 3} <= {least for whole in several for least in whole.values()}


@portions
@pytest.mark.parametrize("algorithm", ["algorithm-1", "algorithm-2"])
def test_each_execution_within_the_bound_is_completed_once(first: int, algorithm: str) -> None:
    for seed, program, whole in programs(first):
        for bound in BOUNDS:
            found = completed(program, algorithm, bound)
            assert set(found) == within(whole, bound), (seed, bound)
            assert len(found) == len(set(found)), (seed, bound)


@portions
def test_the_baseline_covers_the_same_executions(first: int) -> None:
    for seed, program, whole in programs(first):
        for bound in BOUNDS:
            found = completed(program, "cb-dfs", bound)
            assert set(found) == within(whole, bound), (seed, bound)


@portions
def test_levels_go_on_where_the_last_one_ended(first: int) -> None:
    for seed, program, whole in programs(first):
        watched = Watched(program)
        explored = explore(watched, 3, options=ALL)
        assert set(watched.completed) == within(whole, 3), seed
        assert len(watched.completed) == explored.executions == len(set(watched.completed)), seed
        for level in explored.levels:
            assert level.executions == len(within(whole, level.bound)), seed


@portions
@pytest.mark.parametrize("algorithm", ["algorithm-1", "algorithm-2", "cb-dfs"])
def test_everything_is_said_to_be_seen_only_if_it_was(first: int, algorithm: str) -> None:
    for seed, program, whole in programs(first):
        for level in explore(program, 3, algorithm, ALL).levels:
            everything = within(whole, level.bound) == set(whole)
            assert level.exhaustive <= everything, (seed, level.bound)
            assert algorithm != "algorithm-2" or level.exhaustive == everything, (seed, level.bound)


@portions
def test_failures_come_with_the_fewest_preemptions(first: int) -> None:
    for seed, program, whole in programs(first):
        for algorithm in ("algorithm-1", "algorithm-2"):
            for failing in _all_failures(program, algorithm).failures:
                end = program.run(_Fixed(failing.schedule))
                assert failing.failed in end.failures, seed
                assert program.preemptions == failing.preemptions, seed
                assert whole[execution(program.log)] == failing.preemptions, seed


@functools.cache
def patient_programs() -> list[tuple[int, Simulated, dict[Execution, int]]]:
    """Programs of which some executions need an early timeout, and the others."""
    found = []
    for seed in range(0, PROGRAMS, 6):
        for program in (random_program(seed), resting_program(seed), late_program(seed)):
            whole = patient_executions(program, PATIENT_SCHEDULES)
            if whole is not None:
                found.append((seed, program, whole))
    return found


def test_some_executions_need_early_timeouts_and_some_do_not() -> None:
    fewer = 0
    for _, program, whole in patient_programs():
        every = executions(program, PATIENT_SCHEDULES)
        assert every is not None
        assert set(whole) <= set(every)
        fewer += 0 < len(whole) < len(every)
    assert fewer > PROGRAMS // 12


@pytest.mark.parametrize("algorithm", ["algorithm-1", "algorithm-2", "cb-dfs"])
def test_as_a_last_resort_no_timeout_is_early_and_nothing_else_is_left_out(algorithm: str) -> None:
    for seed, program, whole in patient_programs():
        for bound in BOUNDS:
            found = completed(program, algorithm, bound, PATIENT)
            assert set(found) == within(whole, bound), (seed, bound)
            assert algorithm == "cb-dfs" or len(found) == len(set(found)), (seed, bound)


def test_levels_go_on_without_early_timeouts() -> None:
    for seed, program, whole in patient_programs():
        watched = Watched(program)
        explored = explore(watched, 3, options=PATIENT)
        assert set(watched.completed) == within(whole, 3), seed
        for level in explored.levels:
            assert level.executions == len(within(whole, level.bound)), seed
            assert level.exhaustive == (within(whole, level.bound) == set(whole)), seed


def test_failures_without_early_timeouts_come_with_the_fewest_preemptions() -> None:
    failures = 0
    for seed, program, whole in patient_programs():
        for failing in explore(program, None, options=PATIENT).failures:
            end = program.run(_Fixed(failing.schedule))
            assert failing.failed in end.failures, seed
            assert program.early == 0, seed
            assert whole[execution(program.log)] == failing.preemptions, seed
            failures += 1
    assert failures > PROGRAMS // 48


def _all_failures(program: Simulated, algorithm: str) -> Explored:
    return explore(program, None, algorithm, ALL)


class _Fixed(Decider):
    def __init__(self, schedule: tuple[int, ...]) -> None:
        self.rest = iter(schedule)

    def decide(self, pending: object, enabled: object, last: int) -> int:
        return next(self.rest)
