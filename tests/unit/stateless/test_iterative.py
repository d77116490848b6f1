"""Iterative bounding: levels, limits, and what is claimed at the end."""

from __future__ import annotations

import pytest
from tests.unit.stateless.bodies import critical_sections, read_modify_write, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.errors import OptionError
from mazurka.stateless.explored import INTERRUPTED, Explored, RunOptions
from mazurka.stateless.iterative import ALGORITHMS, DEFAULT, explore, find_search
from mazurka.stateless.runs import Decider, Ended

ALL = RunOptions(stop_at_first=False)
every_algorithm = pytest.mark.parametrize("algorithm", list(ALGORITHMS))


@every_algorithm
def test_levels_count_all_executions_within_their_bound(algorithm: str) -> None:
    """Orders of six sections of three threads by their context bounds: no preemption if each
    thread has both of its sections in a row, 3! of them."""
    explored = explore(Simulated([critical_sections(2)] * 3), 3, algorithm, ALL)
    assert [level.bound for level in explored.levels] == [0, 1, 2, 3]
    assert [level.executions for level in explored.levels] == [6, 24, 60, 90]
    assert explored.executions == 90
    assert explored.complete


def test_the_default_runs_nothing_twice() -> None:
    explored = explore(Simulated([critical_sections(2)] * 3), 3, options=ALL)
    assert DEFAULT == "algorithm-2"
    assert explored.runs == explored.executions == 90


def test_the_search_ends_when_no_execution_needs_more_preemptions() -> None:
    explored = explore(Simulated([writes("x"), writes("x")]), 5)
    assert [level.bound for level in explored.levels] == [0]
    assert explored.exhaustive


def test_a_bound_that_leaves_executions_out_is_not_exhaustive() -> None:
    explored = explore(Simulated([read_modify_write(2)] * 2), 1)
    assert explored.complete
    assert not explored.exhaustive


def lost_update(world: World) -> None:
    if world.values["x"] != 2:
        world.fail("lost update")


@every_algorithm
def test_a_failure_is_found_on_the_first_level_that_has_it(algorithm: str) -> None:
    program = Simulated([read_modify_write(1)] * 2, lost_update)
    explored = explore(program, 4, algorithm)
    assert [level.bound for level in explored.levels] == [0, 1]
    [failing] = explored.failures
    assert failing.preemptions == 1
    assert not explored.complete


@every_algorithm
def test_runs_are_limited(algorithm: str) -> None:
    program = Simulated([read_modify_write(2)] * 2)
    explored = explore(program, None, algorithm, RunOptions(max_runs=5))
    assert (explored.runs, explored.limits, explored.complete) == (5, ("5 runs",), False)
    explored = explore(program, None, algorithm, RunOptions(max_runs=1))
    assert explored.limits == ("1 run",)


@every_algorithm
def test_time_is_limited(algorithm: str) -> None:
    program = Simulated([read_modify_write(3)] * 3)
    explored = explore(program, 6, algorithm, RunOptions(limit_seconds=0.0))
    assert explored.limits == ("time",)
    assert not explored.complete
    assert explored.runs == 1


@every_algorithm
def test_endless_executions_end_the_search(algorithm: str) -> None:
    def endless(world: World) -> Body:
        while True:
            yield world.write("x", 1)

    explored = explore(Simulated([endless]), 0, algorithm, RunOptions(max_steps=50))
    assert explored.limits == ("an execution takes more than 50 steps",)
    assert (explored.executions, explored.complete) == (0, False)


@every_algorithm
def test_an_interrupt_ends_the_search_with_what_it_has(algorithm: str) -> None:
    class Interrupted(Simulated):
        def run(self, decider: Decider) -> Ended:
            if self.runs == 3:
                raise KeyboardInterrupt
            return super().run(decider)

    explored = explore(Interrupted([read_modify_write(2)] * 2), None, algorithm)
    assert explored.limits == (INTERRUPTED,)
    assert explored.runs == 3


def test_progress_is_reported() -> None:
    seen: list[int] = []

    def progress(explored: Explored) -> None:
        seen.append(explored.executions)

    options = RunOptions(report_every=0.0)
    explore(Simulated([critical_sections(1)] * 3), None, options=options, progress=progress)
    assert seen[:6] == [1, 2, 3, 4, 5, 6]


def test_unknown_algorithms_are_named() -> None:
    with pytest.raises(OptionError, match="algorithm-2, algorithm-1, cb-dfs"):
        find_search("algorithm-3")
