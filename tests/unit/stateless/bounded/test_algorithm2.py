"""Algorithm 2: each execution once, no run in vain, and failures with few preemptions."""

from __future__ import annotations

import math

import pytest
from tests.unit.stateless.bodies import Thread, critical_sections, read_modify_write, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.errors import InternalError
from mazurka.stateless.bounded.algorithm1 import Algorithm1
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.hashing import EMPTY
from mazurka.stateless.explored import DivergedError, RunOptions
from mazurka.stateless.runs import Abandon, Decider, Ended

ALL = RunOptions(stop_at_first=False)


def executions(program: Simulated, bound: int | None = None) -> int:
    search = Algorithm2(program, ALL)
    level = search.explore(bound)
    assert level.complete
    assert search.explored.abandoned == 0
    assert search.explored.runs == level.executions == len(set(search.terminals))
    return level.executions


@pytest.mark.parametrize(("threads", "rounds"), [(2, 1), (3, 1), (2, 2), (3, 2)])
def test_critical_sections_are_permuted(threads: int, rounds: int) -> None:
    """An execution is an order of the sections, each thread's in its own order: 6 for three
    threads with one section, 90 for three with two.  What happens inside one is ordered by it."""
    orders = math.factorial(threads * rounds) // math.factorial(rounds) ** threads
    assert executions(Simulated([critical_sections(rounds)] * threads)) == orders


def test_read_modify_writes_of_one_variable() -> None:
    """Two threads read and write x twice each.  Counted below: the interleavings of rwrw and rwrw
    that differ in more than the order of neighbouring reads."""
    assert executions(Simulated([read_modify_write(2)] * 2)) == classes("rwrw", "rwrw") == 34


def classes(first: str, second: str) -> int:
    """Interleavings of two threads' accesses to one variable, up to swapping reads.

    In each class there is one without a read of the second thread directly before a read of the
    first: swap such neighbours until there are none.  Those are counted.
    """

    def count(one: str, two: str, last: str) -> int:
        total = 0 if one or two else 1
        if one and not (one[0] == "r" and last == "r of the second"):
            total += count(one[1:], two, "")
        if two:
            total += count(one, two[1:], "r of the second" if two[0] == "r" else "")
        return total

    return count(first, second, "")


def test_a_program_without_operations_has_one_execution() -> None:
    assert executions(Simulated([])) == 1


def test_everything_is_closed_at_the_end() -> None:
    """Theorem 3: H is the set of states within the bound, which Algorithm 1 visits."""
    program = Simulated([read_modify_write(2), writes("x", "y")])
    for bound in (0, 1, 2, None):
        second, first = Algorithm2(program, ALL), Algorithm1(program, ALL)
        second.explore(bound)
        first.explore(bound)
        assert second.closed == first.closed
        assert EMPTY in second.closed
        assert second.open == {} or bound is not None


def lost_update(world: World) -> None:
    if world.values["x"] != 2:
        world.fail("lost update")


def test_a_failure_comes_with_the_fewest_preemptions() -> None:
    program = Simulated([read_modify_write(1), read_modify_write(1), writes("y", "z")], lost_update)
    search = Algorithm2(program)
    search.explore(None)
    [failing] = search.explored.failures
    assert failing.preemptions == 1
    assert search.explored.levels[0].complete is False, "the search ended with the failure"


def test_all_sorts_of_failure_are_found_if_asked_for() -> None:
    def crossing(first: str, second: str) -> object:
        def body(world: World) -> Body:
            yield world.acquire(first)
            yield world.acquire(second)
            world.fail(f"{first} before {second}")
            yield world.release(second)
            yield world.release(first)

        return body

    program = Simulated([crossing("a", "b"), crossing("b", "a")])  # type: ignore[list-item]
    search = Algorithm2(program, ALL)
    assert search.explore(None).complete
    kinds = {(failing.failed.kind, failing.failed.message) for failing in search.explored.failures}
    both = {("assert", "a before b"), ("assert", "b before a")}
    assert kinds == both | {("deadlock", "[0, 1]")}


def test_a_program_that_does_not_repeat_itself_is_noticed() -> None:
    names = iter("abcdefghijklmnopqrstuvwxyz" * 4)

    def body(world: World) -> Body:
        yield world.write(next(names), 1)
        yield world.write("x", 1)

    with pytest.raises(DivergedError, match="does not do the same again"):
        Algorithm2(Simulated([body, body])).explore(None)


def test_a_program_that_ends_too_early_is_noticed() -> None:
    class Shrinking(Simulated):
        def run(self, decider: Decider) -> Ended:
            if self.runs:
                self.bodies = [writes("x")]
            return super().run(decider)

    with pytest.raises(DivergedError):
        Algorithm2(Shrinking([writes("x", "x"), writes("x")])).explore(None)


def test_a_run_that_ends_while_states_say_that_it_need_not_is_noticed() -> None:
    """As if unwinding a stuck thread had given back its lock."""

    class Careless(Simulated):
        def end(self, world: World, pending: list[object], abandoned: bool) -> Ended:  # type: ignore[override]
            ended = super().end(world, pending, abandoned)  # type: ignore[arg-type]
            for lock in "ab":
                world.shared(lock).state = True
            return ended

    def one(world: World) -> Body:
        yield world.acquire("a")
        yield world.acquire("b")

    def other(world: World) -> Body:
        yield world.acquire("b")
        yield world.acquire("a")

    with pytest.raises(InternalError, match="nobody could go on"):
        Algorithm2(Careless([one, other]), ALL).explore(None)


def test_a_program_that_unwinds_tells_the_search_before() -> None:
    class Unwinding(Simulated):
        def run(self, decider: Decider) -> Ended:
            self.decider = decider
            return super().run(decider)

        def end(self, world: World, pending: list[object], abandoned: bool) -> Ended:  # type: ignore[override]
            self.decider.over(pending)  # type: ignore[arg-type]
            ended = super().end(world, pending, abandoned)  # type: ignore[arg-type]
            for lock in "ab":
                world.shared(lock).state = True
            return ended

    def crossing(first: str, second: str) -> Thread:
        def body(world: World) -> Body:
            yield world.acquire(first)
            yield world.acquire(second)
            yield world.release(second)
            yield world.release(first)

        return body

    for bound, expected in ((0, 2), (1, 3), (None, 3)):
        search = Algorithm2(Unwinding([crossing("a", "b"), crossing("b", "a")]), ALL)
        assert search.explore(bound).executions == expected


def test_a_program_may_end_its_runs_itself() -> None:
    """Then the end of the run is a terminal state, whoever could go on."""

    class Cut(Simulated):
        def run(self, decider: Decider) -> Ended:
            class Cutting(Decider):
                steps = 0

                def decide(self, pending: object, enabled: object, last: int) -> int:
                    self.steps += 1
                    if self.steps > 2:
                        raise Abandon
                    return decider.decide(pending, enabled, last)  # type: ignore[arg-type]

            return super().run(Cutting())

    search = Algorithm2(Cut([writes("x", "x"), writes("x", "x")]), ALL)
    assert search.explore(None).executions == 4
    assert search.explore(1).complete


def test_errors_inside_the_search_come_out_of_it() -> None:
    class Broken(Algorithm2):
        def choose(self, node: object) -> int:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        Broken(Simulated([writes("x"), writes("x")])).explore(None)


def test_states_are_limited() -> None:
    program = Simulated([read_modify_write(2)] * 3)
    search = Algorithm2(program, RunOptions(max_states=100, stop_at_first=False))
    level = search.explore(None)
    assert not level.complete
    assert search.explored.limits == ("more than 100 states",)
    assert not search.explored.exhaustive
