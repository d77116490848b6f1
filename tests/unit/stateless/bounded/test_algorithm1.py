"""Algorithm 1: every state within the bound is visited once."""

from __future__ import annotations

import pytest
from tests.unit.stateless.bodies import read_modify_write, writes
from tests.unit.stateless.simulated import Simulated

from mazurka.stateless.bounded.algorithm1 import Algorithm1
from mazurka.stateless.explored import RunOptions

ALL = RunOptions(stop_at_first=False)


def test_independent_threads_have_one_execution_and_all_prefixes() -> None:
    search = Algorithm1(Simulated([writes(*"abc"), writes(*"xyz")]), ALL)
    level = search.explore(None)
    assert level.executions == 1
    assert level.states == 16, "four positions of each thread"
    assert search.explored.abandoned > 0, "prefixes are visited by runs that end early"
    assert search.explored.steps == 15, "each state but the first is entered once"


def test_states_that_need_a_preemption_are_left_out() -> None:
    """Independent threads of two steps, states (a, b): (1, 1) has a preemption, others none."""
    search = Algorithm1(Simulated([writes("a", "b"), writes("x", "y")]), ALL)
    assert search.explore(0).states == 8
    assert search.explore(1).states == 9


def test_the_level_is_exhaustive_when_nothing_was_left_out() -> None:
    search = Algorithm1(Simulated([read_modify_write(2)] * 2), ALL)
    levels = [search.explore(bound) for bound in range(6)]
    assert [level.exhaustive for level in levels][-1]
    assert levels[-1].executions == 34
    assert not levels[0].exhaustive


def test_the_number_of_states_is_limited() -> None:
    search = Algorithm1(Simulated([writes(*"abc"), writes(*"xyz")]), RunOptions(max_states=10))
    level = search.explore(None)
    assert not level.complete
    assert search.explored.limits == ("more than 10 states",)


@pytest.mark.parametrize("bound", [0, 1, 2, None])
def test_terminal_states_are_distinct(bound: int | None) -> None:
    search = Algorithm1(Simulated([read_modify_write(1)] * 3), ALL)
    level = search.explore(bound)
    assert len(set(search.terminals)) == len(search.terminals) == level.executions
