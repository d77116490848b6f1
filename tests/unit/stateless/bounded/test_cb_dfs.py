"""The baseline: how many schedules there are within a bound, derived by hand."""

from __future__ import annotations

import pytest
from tests.unit.stateless.bodies import critical_sections, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.stateless.bounded.bounded_search import ContextBoundedDFS
from mazurka.stateless.explored import Level, RunOptions


def explored(program: Simulated, bound: int | None) -> Level:
    return ContextBoundedDFS(program, RunOptions(stop_at_first=False)).explore(bound)


@pytest.mark.parametrize(("bound", "schedules"), [(0, 2), (1, 4), (2, 6), (None, 6)])
def test_two_threads_with_two_steps_each(bound: int | None, schedules: int) -> None:
    """AABB BBAA; with one preemption also ABBA BAAB; with two ABAB BABA, where the last switch is
    none: the thread before it has ended."""
    level = explored(Simulated([writes("x", "y"), writes("z", "w")]), bound)
    assert (level.executions, level.complete) == (schedules, True)


def test_the_bound_is_said_to_be_none_only_if_nothing_was_cut() -> None:
    program = Simulated([writes("x", "y"), writes("z", "w")])
    assert [explored(program, bound).exhaustive for bound in (0, 1, 2)] == [False, False, True]


def test_a_switch_from_a_blocked_thread_is_no_preemption() -> None:
    """Three threads, each with the lock at once: only the orders of the first steps differ."""
    assert explored(Simulated([critical_sections(1)] * 3), 0).executions == 6


def test_a_switch_from_a_thread_that_gives_way_is_no_preemption() -> None:
    def polite(world: World) -> Body:
        yield world.write("x", 1)
        yield world.nothing(yields=True)

    def stubborn(world: World) -> Body:
        yield world.write("x", 1)
        yield world.nothing()

    assert explored(Simulated([stubborn, writes("y")]), 0).executions == 2
    assert explored(Simulated([polite, writes("y")]), 0).executions == 2, "x y rest, y x rest"
    assert explored(Simulated([polite, writes("y")]), 1).executions == 3


def test_to_go_on_while_others_could_is_a_preemption() -> None:
    def resting(world: World) -> Body:
        yield world.nothing(yields=True)
        yield world.nothing(yields=True)

    def executions(bound: int) -> int:
        return explored(Simulated([resting, writes("y")]), bound).executions

    assert executions(0) == 1, "y first"
    assert executions(1) == 2, "or after one rest"
    assert executions(2) == 3


def test_time_passes_for_free_if_all_wait_for_it() -> None:
    def resting(world: World) -> Body:
        yield world.nothing(yields=True)
        yield world.nothing(yields=True)

    def executions(bound: int) -> int:
        return explored(Simulated([resting, resting]), bound).executions

    assert executions(0) == 4, "in turn: nobody twice before the other has once"
    assert executions(1) == 6


def test_a_loop_that_works_while_another_thread_sleeps_is_finite() -> None:
    """Each round but the first, before the sleep is over, costs a preemption."""

    def looping(world: World) -> Body:
        while not (yield world.read("stop")):
            yield world.nothing(yields=True)
            yield world.write("n", 1)

    def stopping(world: World) -> Body:
        yield world.nothing(yields=True)
        yield world.nothing(yields=True)
        yield world.write("stop", 1)

    counts = [explored(Simulated([looping, stopping]), bound).executions for bound in (0, 1, 2)]
    assert 0 < counts[0] < counts[1] < counts[2] < 300


def test_a_loop_that_waits_for_time_is_finite() -> None:
    """Each round before the flag is up costs a preemption."""

    def polling(world: World) -> Body:
        rounds = 0
        while not (yield world.read("flag")):
            yield world.nothing(yields=True)
            rounds += 1
            yield world.write("rounds", rounds)

    program = Simulated([polling, writes("flag")])
    least, more = explored(program, 0).executions, explored(program, 1).executions
    assert least < more < explored(program, 2).executions < 100


def test_threads_that_give_way_take_turns() -> None:
    """Two threads wait in a loop for a third: the first run already comes to its end."""

    def waiting(world: World) -> Body:
        while not (yield world.read("done")):
            yield world.nothing(yields=True)

    program = Simulated([waiting, waiting, writes("done")])
    search = ContextBoundedDFS(program, RunOptions(max_runs=1, max_steps=20))
    search.explore(0)
    assert search.explored.executions == 1
    assert search.explored.depth == 7, "two reads and rests each, the write, two reads"
