"""Random schedules: repeatable, fair, and never complete."""

from __future__ import annotations

import pytest
from tests.unit.stateless.bodies import read_modify_write, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.errors import OptionError
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.randomized import PCT, STRATEGIES, RandomSchedules, RandomWalk
from mazurka.stateless.runs import Decider

each = pytest.mark.parametrize("strategy", STRATEGIES.values())


def lost_update(world: World) -> None:
    if world.values["x"] != 2:
        world.fail("lost update")


def schedules(strategy: type[RandomSchedules], seed: int, runs: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    sampler = strategy(Simulated([writes(*"abc")] * 3), seed)
    for _ in range(runs):
        sampler.run_once()
        found.append(tuple(sampler.schedule))
    return found


@each
def test_a_seed_gives_the_same_schedules_again(strategy: type[RandomSchedules]) -> None:
    assert schedules(strategy, 1, 20) == schedules(strategy, 1, 20)
    assert schedules(strategy, 1, 20) != schedules(strategy, 2, 20)


@each
def test_failures_are_found_and_replay(strategy: type[RandomSchedules]) -> None:
    program = Simulated([read_modify_write(1)] * 2, lost_update)
    explored = strategy(program, 5).sample(200)
    [failing] = explored.failures
    assert explored.runs < 200

    class Following(Decider):
        rest = iter(failing.schedule)

        def decide(self, pending: object, enabled: object, last: int) -> int:
            return next(self.rest)

    end = program.run(Following())
    assert end.failures == [failing.failed]
    assert program.preemptions == failing.preemptions


@each
def test_nothing_is_claimed(strategy: type[RandomSchedules]) -> None:
    explored = strategy(Simulated([writes("x")]), 0).sample(10)
    assert explored.executions == explored.runs == 10
    assert not explored.complete
    assert not explored.exhaustive


@each
def test_a_thread_that_gives_way_does_not_keep_others_waiting(
    strategy: type[RandomSchedules],
) -> None:
    def waiting(world: World) -> Body:
        while not (yield world.read("done")):
            yield world.nothing(yields=True)

    program = Simulated([waiting, waiting, writes("done")])
    explored = strategy(program, 3, RunOptions(max_steps=500)).sample(50)
    assert explored.limits == ()


@each
def test_limits(strategy: type[RandomSchedules]) -> None:
    def endless(world: World) -> Body:
        while True:
            yield world.write("x", 1)

    explored = strategy(Simulated([endless]), 0, RunOptions(max_steps=30)).sample(10)
    assert explored.limits == ("an execution takes more than 30 steps",)
    assert (explored.runs, explored.executions) == (1, 0)
    timed = strategy(Simulated([writes("x")]), 0, RunOptions(limit_seconds=0.0)).sample(10)
    assert (timed.runs, timed.limits) == (1, ("time",))


@each
def test_threads_that_begin_later_take_part(strategy: type[RandomSchedules]) -> None:
    def starter(world: World) -> Body:
        yield world.start(writes("x"))
        yield world.start(writes("x"))
        yield world.write("x", 1)

    sampler = strategy(Simulated([starter]), 9)
    seen = set()
    for _ in range(60):
        sampler.run_once()
        seen.add(tuple(sampler.schedule))
    assert len(seen) == 8, "0 0, 0 1 0 and what can follow; all of them"


def test_priorities_change_at_most_as_often_as_the_depth_says() -> None:
    """With depth 1 nothing changes: threads run one after the other."""
    for depth in (1, 2, 3):
        sampler = PCT(Simulated([writes(*"abcd")] * 3), 4, depth=depth)
        most = 0
        for _ in range(100):
            sampler.run_once()
            most = max(most, sampler.preemptions.count)
        assert most == depth - 1


def test_a_failure_has_a_depth() -> None:
    with pytest.raises(OptionError, match="at least 1"):
        PCT(Simulated([]), 0, depth=0)


def test_a_walk_reaches_every_schedule() -> None:
    assert len(set(schedules(RandomWalk, 3, 400))) > 200
