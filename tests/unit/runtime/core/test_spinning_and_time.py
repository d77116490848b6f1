"""Loops that wait for others, and time that follows the schedule."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

import pytest
from runtime_deciders import Follow, explore_all, kinds, run_once
from tests.limits import ENOUGH

import mazurka
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.program.program import RealProgram


def in_threads(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_spinning_thread_waits_for_the_change() -> None:
    def test() -> None:
        event = threading.Event()

        def spin() -> None:
            while True:  # the test of a loop is in the code twice before Python 3.14
                if event.is_set():
                    break

        thread = threading.Thread(target=spin)
        thread.start()
        event.set()
        thread.join()

    schedules = explore_all(test)
    assert kinds(schedules) == set()
    # `set` before begin, or after 0, 1 or 2 looks, which show that nothing changes.
    looks = {sum(kind == "is_set" for _, kind in s.trail) for s in schedules}
    assert len(schedules) == 4
    assert looks == {1, 2, 3}


def test_a_lock_tried_again_and_again() -> None:
    def test() -> None:
        lock = threading.Lock()

        def spin() -> None:
            while True:
                if lock.acquire(blocking=False):
                    break
            lock.release()

        in_threads(spin, spin)

    assert run_once(test, [0, 0, 1, 1, 2, 2, 2]).failures == []


@pytest.mark.parametrize("pause", [None, 0.1])
def test_nobody_is_left_to_change_anything(pause: float | None) -> None:
    def test() -> None:
        event = threading.Event()

        def spin() -> None:
            while not event.is_set():
                if pause is not None:
                    time.sleep(pause)

        in_threads(spin)

    (failed,) = run_once(test).failures
    assert failed.kind == "livelock"
    assert "waits for a change of event 0#1" in failed.message


def test_a_daemon_may_spin_for_ever() -> None:
    def test() -> None:
        event = threading.Event()

        def spin() -> None:
            while not event.wait(1):
                pass

        threading.Thread(target=spin, daemon=True).start()

    assert run_once(test).failures == []


@pytest.mark.parametrize("tries", range(1, 8))
def test_a_loop_that_counts_is_no_spin_loop(tries: int) -> None:
    def test() -> None:
        lock = threading.Lock()
        lock.acquire()

        def give_up() -> None:
            for _ in range(tries):
                if lock.acquire(blocking=False):
                    return
            gave_up.append(tries)

        in_threads(give_up)

    gave_up: list[int] = []
    assert run_once(test).failures == []
    assert gave_up == [tries]


def test_the_same_look_from_two_places_is_no_loop() -> None:
    def test() -> None:
        event = threading.Event()

        def look() -> bool:
            return event.is_set()

        assert [look(), look(), look() or look(), look()] == [False] * 4

    assert run_once(test).failures == []


def test_deadlines_are_reached_in_a_few_rounds() -> None:
    def test() -> None:
        event = threading.Event()

        def poll() -> None:
            deadline = time.monotonic() + 3600
            while time.monotonic() < deadline:
                if event.is_set():
                    outcomes.add("seen")
                    return
                time.sleep(0.001)
            outcomes.add("late")

        thread = threading.Thread(target=poll)
        thread.start()
        event.set()
        thread.join()

    outcomes: set[str] = set()
    assert kinds(explore_all(test)) == set()
    assert outcomes == {"seen", "late"}


def test_sleep_takes_no_time_and_passes_on_what_it_took() -> None:
    def test() -> None:
        start = time.monotonic()
        stamps: list[float] = []

        def doze() -> None:
            time.sleep(5)
            stamps.append(time.monotonic() - start)

        in_threads(doze, doze)
        assert all(5 <= stamp < 6 for stamp in stamps)
        assert 5 <= time.monotonic() - start < 6
        assert time.time_ns() - int(time.time() * 1e9) < 10**9
        with pytest.raises(ValueError, match="sleep length must be non-negative"):
            time.sleep(-1)

    schedules = explore_all(test)[:200]
    assert kinds(schedules) == set()


def test_a_wait_in_vain_takes_its_time() -> None:
    def test() -> None:
        start = time.monotonic()
        assert not threading.Event().wait(7)
        assert 7 <= time.monotonic() - start < 8

    assert run_once(test).failures == []


def test_real_time_on_request() -> None:
    real = time.monotonic

    def test() -> None:
        assert time.monotonic is real

    settings = ControlSettings(virtual_time=False, pin=False)
    assert RealProgram(test, settings).run(Follow()).failures == []


# -- time that passes although others could go on


def sleeps_long_enough() -> None:
    done: list[int] = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start()
    time.sleep(30)
    time.sleep(30)
    assert done
    thread.join()


@pytest.mark.parametrize(("preemptions", "verdict"), [(0, "holds"), (1, "holds"), (2, "violated")])
def test_each_sleep_that_ends_early_costs_a_preemption(preemptions: int, verdict: str) -> None:
    assert mazurka.explore(sleeps_long_enough, preemptions=preemptions).verdict == verdict


def counts_its_rounds() -> None:
    done: list[int] = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start()
    rounds = 0
    while not done:
        rounds += 1
        time.sleep(0.01)
    thread.join()


def refreshes() -> None:
    cache = {"value": 0}
    stop = threading.Event()

    def refresh() -> None:
        while not stop.wait(0.1):
            cache["value"] += 1

    thread = threading.Thread(target=refresh, daemon=True)
    thread.start()
    stop.set()
    thread.join()


def notes_when_it_is_idle() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    stop = threading.Event()
    idle = [0]

    def work() -> None:
        while not stop.is_set():
            try:
                jobs.get(timeout=0.1)
            except queue.Empty:
                idle[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    jobs.put(1)
    stop.set()
    thread.join()


@pytest.mark.parametrize("test", [counts_its_rounds, refreshes, notes_when_it_is_idle])
def test_loops_that_wait_for_time_are_finite(test: Callable[[], None]) -> None:
    result = mazurka.explore(test, preemptions=3, seconds=ENOUGH)
    assert result.verdict == "holds", result.report()
    assert result.executions > 1
    strategies = ("algorithm1", "cb-dfs")
    others = [mazurka.explore(test, preemptions=2, strategy=name).verdict for name in strategies]
    assert others == ["holds", "holds"]
