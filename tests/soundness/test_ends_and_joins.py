"""Ends and joins that are no steps: the same executions at every bound as if they were.

The search without them is the one that other tests compare with all schedules.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.exploring.schedules import Follow
from mazurka.runtime.program.program import RealProgram
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Decider, Ended, Operation, Runnable

Test = Callable[[], None]
BOUNDS = (0, 1, 2, 3)
ALL = RunOptions(stop_at_first=False, max_runs=400)
PATIENT = replace(ALL, early_timeouts=False)


class Asked(Algorithm2):
    """Is asked about ends and joins, too, as by programs that cannot pass them by themselves."""

    slip = None  # type: ignore[assignment]


def without_lives(
    program: Runnable, options: RunOptions, kind: type[Algorithm2] = Algorithm2
) -> Algorithm2:
    """Algorithm 2 that leaves out ends and joins, as long as it can."""
    search = kind(program, options)
    search.begin_anew(silently=True)
    return search


def levels(search: Algorithm2) -> Explored:
    for bound in BOUNDS:
        if not search.explore(bound).complete:
            break
    return search.explored


class Counted(Follow):
    """Follows a schedule and counts its preemptions, with ends and joins as steps."""

    def __init__(self, schedule: Sequence[int]) -> None:
        super().__init__(schedule)
        self.preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        chosen = super().decide(pending, enabled, last)
        self.preemptions.take(pending, enabled, last, chosen)
        return chosen


def require_costs(program: RealProgram, search: Algorithm2) -> None:
    """The schedules of failures cost what they are said to."""
    for failing in search.explored.failures:
        counted = Counted(failing.schedule)
        program.run(counted)
        assert counted.preemptions.count == failing.preemptions
        assert search.options.early_timeouts or not counted.preemptions.early


def both(test: Test, options: RunOptions) -> tuple[Algorithm2, Algorithm2]:
    """The two searches, after they have been through all bounds."""
    with RealProgram(test, ControlSettings(pin=False)) as program:
        one, other = without_lives(program, options), Algorithm2(program, options)
        asked = without_lives(program, options, Asked)
        program.supervise(lambda: (levels(one), levels(other), levels(asked)))
        program.supervise(lambda: require_costs(program, one))
        assert one.terminals == asked.terminals
        assert [level.executions for level in one.explored.levels] == [
            level.executions for level in asked.explored.levels
        ]
        return one, other


def compare(test: Test, options: RunOptions = ALL) -> tuple[Algorithm2, Algorithm2]:
    one, other = both(test, options)
    for mine, theirs in zip(one.explored.levels, other.explored.levels, strict=False):
        if mine.complete and theirs.complete:
            assert mine.executions == theirs.executions, f"with {mine.bound} preemptions"
            assert mine.exhaustive == theirs.exhaustive
    assert {failing.failed.message for failing in one.explored.failures} == {
        failing.failed.message for failing in other.explored.failures
    }
    return one, other


SEEDS = range(40)
"""Of random programs; `tests.mutants.test_thread_mutants` compares the same ones."""


def random_test(seed: int, *, timed: bool = False) -> Test:
    """Threads that start and join each other, now and then look at each other, and share little;
    `timed` ones wait with timeouts."""
    chance = Random(seed)
    plans = [[chance.randrange(6) for _ in range(chance.randint(1, 3))] for _ in range(3)]
    order = chance.sample(range(2), 2)
    curious, between = chance.random() < 0.2, chance.random() < 0.5
    twice = chance.random() < 0.2

    def test() -> None:
        lock, units = threading.Lock(), threading.Semaphore(0)
        threads: list[threading.Thread] = []

        def act(plan: list[int]) -> None:
            for action in plan:
                if action < 2:
                    units.release()
                elif action < 4:
                    with lock:
                        pass
                elif action == 4:
                    units.acquire(timeout=1) if timed else units.acquire(blocking=False)
                else:
                    child = threading.Thread(target=units.release)
                    child.start()
                    child.join()

        def last() -> None:
            act(plans[1])
            if twice:
                threads[0].join()

        threads += [threading.Thread(target=act, args=(plans[0],)), threading.Thread(target=last)]
        for thread in threads:
            thread.start()
        act(plans[2][:1])
        for number in order:
            if curious:
                threads[number].is_alive()
            threads[number].join()
            if between:
                units.release()

    return test


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_have_the_same_executions_at_every_bound(seed: int) -> None:
    one, other = compare(random_test(seed))
    assert one.explored.levels[1].complete, "something has been compared"
    assert one.states <= other.states


@pytest.mark.parametrize("options", [ALL, PATIENT], ids=["any", "last-resort"])
@pytest.mark.parametrize("seed", SEEDS[::5])
def test_timeouts_are_early_or_not_with_ends_and_joins_as_without(
    seed: int, options: RunOptions
) -> None:
    compare(random_test(seed, timed=True), options)


def test_a_join_that_can_go_on_does_not_make_a_timeout_early() -> None:
    """Main stands before its join when the worker has ended; then it waits for the lock of the
    thread that waits with a timeout, which nobody else can end."""

    def test() -> None:
        lock, units = threading.Lock(), threading.Semaphore(0)

        def waiting() -> None:
            with lock:
                units.acquire(timeout=1)

        waiter = threading.Thread(target=waiting)
        worker = threading.Thread(target=lock.locked)
        waiter.start()
        worker.start()
        worker.join()
        with lock:
            pass
        waiter.join()
        raise ValueError

    for options in (ALL, PATIENT):
        one, _ = compare(test, options)
        assert one.graph.silently
        assert one.explored.failures[0].preemptions == 0


def test_what_follows_a_join_comes_after_all_that_the_other_thread_did() -> None:
    def test() -> None:
        units = threading.Semaphore(0)
        inner = threading.Thread(target=units.release)

        def outer_body() -> None:
            inner.start()
            inner.join()

        outer = threading.Thread(target=outer_body)
        outer.start()
        units.release()
        outer.join()
        assert units.acquire(blocking=False)
        assert units.acquire(blocking=False)

    one, other = compare(test)
    assert one.explored.executions == 2, "main's release before or after the inner one"
    assert not one.explored.failures
    assert one.states < other.states


def test_a_thread_may_still_be_alive_after_its_last_operation() -> None:
    def test() -> None:
        done = threading.Event()
        thread = threading.Thread(target=done.set)
        thread.start()
        done.wait()
        assert not thread.is_alive()
        thread.join()

    one, _ = compare(test)
    assert len(one.explored.failures) == 1
    assert not one.graph.silently


def test_the_schedule_of_a_failure_has_the_last_ends_and_joins() -> None:
    def test() -> None:
        units = threading.Semaphore(0)
        thread = threading.Thread(target=units.release)
        thread.start()
        thread.join()
        raise ValueError

    one, other = compare(test)
    [mine], [theirs] = one.explored.failures, other.explored.failures
    assert len(mine.schedule) == len(theirs.schedule)


def test_two_threads_that_join_the_same_one_make_its_end_a_step() -> None:
    """joined, one, other, another, one, other is an order that takes a single preemption, before
    the end of the first: then both that join it wait for nothing.  To stop each of them behind its
    join would take two."""

    def test() -> None:
        units = threading.Semaphore(0)
        joined = threading.Thread(target=units.release)

        def body() -> None:
            units.release()
            joined.join()
            units.release()

        others = [threading.Thread(target=target) for target in (body, body, units.release)]
        for thread in (joined, *others):
            thread.start()
        for thread in others:
            thread.join()

    one, _ = compare(test, RunOptions(stop_at_first=False, max_runs=1000))
    assert one.explored.levels[1].complete
    assert not one.graph.silently


def test_a_thread_that_joins_for_ever_comes_to_the_limit() -> None:
    def test() -> None:
        units = threading.Semaphore(0)
        thread = threading.Thread(target=units.release)
        thread.start()
        is_over = units.acquire(blocking=False)
        thread.join()
        while is_over:
            thread.join()

    with RealProgram(test, ControlSettings(pin=False)) as program:
        search = without_lives(program, RunOptions(max_steps=300))
        program.supervise(lambda: search.explore(1))
        assert search.graph.silently
        assert len(search.explored.limits) == 1
        assert "an execution takes more than" in search.explored.limits[0]


class Follow(Decider):
    """Follows a schedule and counts its preemptions by the rules for steps."""

    def __init__(self, schedule: tuple[int, ...]) -> None:
        self.schedule = schedule
        self.depth = self.preemptions = 0

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        chosen = self.schedule[self.depth]
        self.depth += 1
        assert chosen in enabled
        self.preemptions += chosen != last and last in enabled
        return chosen


@pytest.mark.parametrize("seed", range(12))
def test_schedules_of_failures_can_be_followed_and_cost_what_is_said(seed: int) -> None:
    inner = random_test(seed + 100)

    def test() -> None:
        inner()
        raise ValueError("found")

    with RealProgram(test, ControlSettings(pin=False)) as program:

        def check() -> None:
            search = without_lives(program, RunOptions(stop_at_first=False, max_runs=60))
            search.explored.is_new = lambda failed: True  # type: ignore[method-assign]
            search.explore(None)
            for failing in search.explored.failures[:60]:
                again = Follow(failing.schedule)
                ended: Ended = program.run(again)
                assert again.depth == len(failing.schedule)
                assert [failed.message for failed in ended.failures] == [failing.failed.message]
                if not search.graph.silently:
                    continue
                assert again.preemptions == failing.preemptions

        program.supervise(check)
