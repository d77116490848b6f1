"""Timeouts that end although others could move: what they cost, and how they are told."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import mazurka
from mazurka.errors import OptionError
from mazurka.runtime.exploring.options import ExploreOptions, override_options, read_options


class Box:
    def __init__(self) -> None:
        self.n = 0


nap = 0.0
"""How long the other thread of a test sleeps first."""


def in_thread(target: Callable[[], object]) -> threading.Thread:
    def work() -> None:
        if nap:
            time.sleep(nap)
        target()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.fixture
def sleepy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "nap", request.param)


SLEEPY = pytest.mark.parametrize("sleepy", [0.0, 1.0], indirect=True)


def event_in_time() -> None:
    event = threading.Event()
    in_thread(event.set)
    assert event.wait(5)


def lock_in_time() -> None:
    lock = threading.Lock()

    def hold() -> None:
        with lock:
            if nap:
                time.sleep(nap)

    threading.Thread(target=hold).start()
    assert lock.acquire(timeout=5)
    lock.release()


def unit_in_time() -> None:
    units = threading.Semaphore(0)
    in_thread(units.release)
    assert units.acquire(timeout=5)


def item_in_time() -> None:
    items = queue.Queue[int]()
    in_thread(lambda: items.put(1))
    assert items.get(timeout=5) == 1


def simple_item_in_time() -> None:
    items = queue.SimpleQueue[int]()
    in_thread(lambda: items.put(1))
    assert items.get(timeout=5) == 1


def room_in_time() -> None:
    items = queue.Queue[int](1)
    items.put(1)
    in_thread(items.get)
    items.put(2, timeout=5)


def notified_in_time() -> None:
    box, condition = Box(), threading.Condition()

    def change() -> None:
        with condition:
            box.n = 1
            condition.notify()

    in_thread(change)
    with condition:
        assert condition.wait_for(lambda: box.n, timeout=5)


def joined_in_time() -> None:
    thread = in_thread(threading.Lock().locked)
    thread.join(5)
    assert not thread.is_alive()


def result_in_time() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(time.sleep, nap).result(timeout=5) is None


def slept_enough() -> None:
    box = Box()

    def work() -> None:
        box.n = 1

    in_thread(work)
    time.sleep(5)
    assert box.n == 1


def polled_enough() -> None:
    box = Box()

    def work() -> None:
        box.n = 1

    in_thread(work)
    for _ in range(2):
        if not box.n:
            time.sleep(5)
    assert box.n == 1


WAITS = [
    *(event_in_time, lock_in_time, unit_in_time, item_in_time, simple_item_in_time, room_in_time),
    *(notified_in_time, joined_in_time, result_in_time, slept_enough, polled_enough),
]


@SLEEPY
@pytest.mark.usefixtures("sleepy")
@pytest.mark.parametrize("test", WAITS)
def test_a_timeout_that_ends_early_costs_a_preemption_and_is_told(test: Callable[[], None]) -> None:
    assert mazurka.explore(test, preemptions=0).verdict == "holds"
    result = mazurka.explore(test, preemptions=2)
    assert result.verdict == "violated"
    assert result.violation is not None
    assert result.violation.needs_early
    headline = " ".join(result.report(200).splitlines()[0].split())
    word = "sleep" if "enough" in test.__name__ else "timeout"
    assert f", only if the {word} of 5 s at line " in headline
    assert " early — tests/" in headline
    assert "--mazurka-timeouts=last-resort" in result.report(400)
    assert "nothing found among all executions" in result.scope
    assert result.scope.endswith("early timeouts")


@SLEEPY
@pytest.mark.usefixtures("sleepy")
@pytest.mark.parametrize("test", WAITS)
@pytest.mark.parametrize("strategy", ["algorithm2", "cb-dfs", "random", "pct"])
def test_as_a_last_resort_it_never_does(test: Callable[[], None], strategy: str) -> None:
    runs = 20 if strategy in ("random", "pct") else None
    seed = 1 if strategy in ("random", "pct") else None
    result = mazurka.explore(
        test, timeouts="last-resort", strategy=strategy, executions=runs, seed=seed
    )
    assert result.violation is None
    assert "early timeouts" in result.scope


def both_ways() -> None:
    """Fails with an early timeout and one preemption, and without any and one preemption more."""
    box, event = Box(), threading.Event()

    def work() -> None:
        seen = box.n
        box.n = seen + 1
        event.set()

    threads = [in_thread(work), in_thread(work)]
    done = event.wait(5)
    for thread in threads:
        thread.join()
    assert done
    assert box.n == 2


@pytest.mark.parametrize("strategy", ["algorithm2", "cb-dfs", "optimal-dpor", "random"])
def test_a_failure_that_needs_no_early_timeout_is_shown_first(strategy: str) -> None:
    seed = 1 if strategy == "random" else None
    result = mazurka.explore(both_ways, strategy=strategy, seed=seed)
    assert result.violation is not None
    assert result.violation.message == "AssertionError: 1 == 2 (assert box.n == 2)"
    assert not result.violation.early
    assert "last-resort" not in result.report()
    assert result.story is not None
    assert all(step.early is None for step in result.story.steps)


def waits_in_vain() -> None:
    """Nobody ever sets the event: its timeout is not early when the other thread has ended."""
    event, box = threading.Event(), Box()

    def work() -> None:
        box.n = 1

    in_thread(work)
    assert not event.wait(5)
    assert box.n == 1


def test_a_timeout_is_not_early_when_nobody_else_can_move() -> None:
    result = mazurka.explore(waits_in_vain, timeouts="last-resort")
    assert result.verdict == "holds"
    result = mazurka.explore(waits_in_vain, timeouts="any")
    assert result.violation is not None
    assert [one.seconds for one in result.violation.early] == [5]


def works_for(*seconds: float) -> Callable[[], None]:
    def test() -> None:
        def work() -> None:
            for pause in seconds:
                time.sleep(pause)

        thread = in_thread(work)
        thread.join(5)
        assert not thread.is_alive()

    return test


@pytest.mark.parametrize(
    ("test", "is_early"),
    [
        (works_for(1, 1, 1), True),
        (works_for(4.9), True),
        (works_for(5), False),
        (works_for(7), False),
        (works_for(2, 4), False),
    ],
)
def test_a_timeout_is_early_if_the_work_takes_less_time(
    test: Callable[[], None], is_early: bool
) -> None:
    patient = mazurka.explore(test, timeouts="last-resort")
    assert patient.verdict == ("holds" if is_early else "violated")
    result = mazurka.explore(test, preemptions=1)
    assert result.violation is not None
    assert bool(result.violation.early) is is_early
    assert ("fires early" in result.report(200)) is is_early


def test_who_looks_again_and_again_does_not_keep_a_sleeper_waiting() -> None:
    """A loop that counts its rounds: none of them is like the one before."""

    def test() -> None:
        box, rounds = Box(), 0

        def work() -> None:
            time.sleep(60)
            box.n = 1

        in_thread(work)
        while not box.n:
            rounds += 1
            time.sleep(0.01)
        assert rounds <= 6

    for timeouts in ("any", "last-resort"):
        result = mazurka.explore(test, preemptions=1, timeouts=timeouts)
        assert result.verdict == "holds", result.report()


def lets_others_go_first() -> None:
    box = Box()

    def work() -> None:
        box.n = 1

    in_thread(work)
    time.sleep(0)
    assert box.n == 1


def test_a_sleep_of_no_time_is_never_early() -> None:
    result = mazurka.explore(lets_others_go_first, timeouts="last-resort")
    assert result.violation is not None
    assert result.violation.condition == ""
    assert mazurka.explore(lets_others_go_first, preemptions=0).verdict == "holds"


def without_timeouts() -> None:
    lock = threading.Lock()

    def hold() -> None:
        with lock:
            pass

    in_thread(hold)
    hold()


def test_the_scope_says_nothing_of_timeouts_where_none_was_left_out() -> None:
    result = mazurka.explore(without_timeouts, timeouts="last-resort")
    assert result.scope.startswith("all executions; ")


def two_of_them() -> None:
    events = [threading.Event(), threading.Event()]

    def work() -> None:
        for event in events:
            event.set()

    in_thread(work)
    assert any([events[0].wait(5), events[1].wait(2.5)])


def test_several_early_timeouts_are_all_named() -> None:
    result = mazurka.explore(two_of_them, preemptions=2)
    assert result.violation is not None
    named = [(one.seconds, one.sleeps) for one in result.violation.early]
    assert named == [(5, False), (2.5, False)]
    assert " s at line " in result.violation.condition
    assert result.violation.condition.endswith(" end early")
    found = result.to_json()["violation"]
    assert isinstance(found, dict)
    assert [one["seconds"] for one in found["early_timeouts"]] == [5, 2.5]


def test_workers_tell_the_same() -> None:
    result = mazurka.explore(both_ways, workers=2)
    assert result.violation is not None
    assert not result.violation.early


def many_waits() -> None:
    units, lock = threading.Semaphore(1), threading.Lock()

    def work() -> None:
        for _ in range(2):
            if units.acquire(timeout=1):
                with lock:
                    pass
                units.release()

    threads = [in_thread(work) for _ in range(3)]
    for thread in threads:
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
@pytest.mark.filterwarnings("ignore:other threads run")  # those of tests before
def test_workers_leave_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.runtime.exploring.workers.parallel.SCOUTING", 10)
    alone, several = (
        mazurka.explore(many_waits, timeouts="last-resort", preemptions=2, workers=workers)
        for workers in (1, 2)
    )
    assert alone.executions > 10
    assert [level.executions for level in alone.levels] == [
        level.executions for level in several.levels
    ]
    assert (alone.verdict, several.verdict) == ("holds", "holds")
    assert "no early timeouts" in alone.scope
    assert several.scope == alone.scope.replace("each run once", "run by 2 workers")


def test_wrong_values_are_refused() -> None:
    with pytest.raises(OptionError, match="timeouts must be 'any' or 'last-resort', not 'never'"):
        ExploreOptions(timeouts="never")
    with pytest.raises(OptionError, match="optimal-dpor runs all executions, those with early"):
        ExploreOptions(strategy="optimal-dpor", timeouts="last-resort")
    own = read_options({"strategy": "dpor"})
    assert override_options(own, {"timeouts": "last-resort"}).timeouts == "any"
