"""The clock is shared: what it shows depends on who has slept, and who has looked, before."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime, timedelta

import pytest

import mazurka
from mazurka.runtime.primitives.clock import align


def in_threads(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def verdicts(program: Callable[[], object], *bounds: int) -> list[str]:
    return [mazurka.explore(program, preemptions=bound).verdict for bound in bounds]


# -- looks and sleep


def is_read_before_another_has_slept() -> None:
    start, late = time.monotonic(), []
    in_threads(lambda: late.append(time.monotonic() - start >= 10), lambda: time.sleep(10))
    assert late == [False]


def is_read_after_another_has_slept() -> None:
    start, late = time.monotonic(), []
    in_threads(lambda: late.append(time.monotonic() - start >= 10), lambda: time.sleep(10))
    assert late == [True]


def is_in_time() -> None:
    start, late = time.time(), list[int]()

    def work() -> None:
        if time.time() - start > 1:
            late.append(1)

    in_threads(work, lambda: time.sleep(5))
    assert not late


def comes_later_for_who_sleeps_longer() -> None:
    ends: dict[int, float] = {}

    def sleep(seconds: int) -> None:
        time.sleep(seconds)
        ends[seconds] = time.monotonic()

    in_threads(lambda: sleep(1), lambda: sleep(2))
    assert ends[2] - ends[1] >= 1


def moves_after_a_date_was_made() -> None:
    start, late = datetime.now(), []
    in_threads(
        lambda: late.append(datetime.now() - start >= timedelta(days=1)),
        lambda: time.sleep(86_400),
    )
    assert late == [False]


def wait_for_item() -> None:
    with pytest.raises(queue.Empty):
        queue.Queue[int]().get(timeout=4)


def wait_for_simple_item() -> None:
    with pytest.raises(queue.Empty):
        queue.SimpleQueue[int]().get(timeout=4)


def wait_for_notification() -> None:
    condition = threading.Condition()
    with condition:
        condition.wait(4)


def wait_for_predicate() -> None:
    condition = threading.Condition()
    with condition:
        condition.wait_for(lambda: False, timeout=4)


def wait_for_lock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=4)


@pytest.mark.parametrize(
    "wait",
    [
        wait_for_item,
        wait_for_simple_item,
        wait_for_notification,
        wait_for_predicate,
        wait_for_lock,
        lambda: threading.Event().wait(4),
        lambda: threading.Semaphore(0).acquire(timeout=4),
    ],
)
def test_a_wait_in_vain_comes_before_a_look_or_after_it(wait: Callable[[], object]) -> None:
    def test() -> None:
        start, late = time.monotonic(), []
        in_threads(lambda: late.append(time.monotonic() - start >= 4), wait)
        outcomes.update(late)

    outcomes: set[bool] = set()
    assert verdicts(test, 1) == ["holds"]
    assert outcomes == {False, True}


@pytest.mark.parametrize(
    ("program", "fewest"),
    [
        (is_read_before_another_has_slept, 1),
        (is_read_after_another_has_slept, 0),
        (is_in_time, 1),
        (comes_later_for_who_sleeps_longer, 1),
        (moves_after_a_date_was_made, 1),
    ],
)
def test_sleep_comes_before_a_look_or_after_it(program: Callable[[], object], fewest: int) -> None:
    """That it comes before is an early end of the sleep, if the other thread could look, or sleeps
    for a shorter time."""
    assert verdicts(program, 0, 1) == ["holds" if fewest else "violated", "violated"]


def test_sleep_between_two_looks_is_a_preemption() -> None:
    def test() -> None:
        end, same = time.monotonic() + 5, []

        def look() -> None:
            one = time.monotonic() < end
            two = time.monotonic() < end
            same.append(one == two)

        in_threads(look, lambda: time.sleep(10))
        assert same == [True]

    assert verdicts(test, 0, 1) == ["holds", "violated"]


def test_who_looks_after_all_that_was_done_sees_the_time_that_it_took() -> None:
    def test() -> None:
        start, log = time.monotonic(), list[object]()

        def sleep() -> None:
            time.sleep(10)
            log.append("slept")

        in_threads(lambda: log.append(time.monotonic() - start >= 10), sleep)
        assert log != ["slept", False]

    assert verdicts(test, 0, 1) == ["holds", "violated"]


def test_sleep_in_several_threads_passes_at_once() -> None:
    def test() -> None:
        start = time.monotonic()
        in_threads(*[lambda: time.sleep(1)] * 4)
        assert 1 <= time.monotonic() - start < 1.5

    result = mazurka.explore(test, preemptions=2)
    assert (result.verdict, result.executions) == ("holds", 1)


def test_sleep_begins_when_its_thread_knows_that_it_does() -> None:
    def test() -> None:
        start, lock = time.monotonic(), threading.Lock()

        def work() -> None:
            with lock:
                time.sleep(1)

        in_threads(work, work)
        assert 2 <= time.monotonic() - start < 2.5

    assert verdicts(test, 2) == ["holds"]


# -- looks and looks


def stamps(outside: bool) -> None:
    log, lock = list[float](), threading.Lock()

    def work() -> None:
        stamp = time.time()
        with lock:
            log.append(stamp if outside else time.time())

    in_threads(work, work)
    assert log == sorted(log)
    assert log[0] != log[1]


def test_no_two_looks_show_the_same() -> None:
    assert verdicts(lambda: stamps(outside=False), 0, 2) == ["holds", "holds"]
    assert verdicts(lambda: stamps(outside=True), 0, 1) == ["holds", "violated"]


def test_time_that_a_loop_lets_pass_has_passed_for_who_learns_of_it() -> None:
    def test() -> None:
        start, event = time.monotonic(), threading.Event()

        def poll() -> None:
            while time.monotonic() < start + 10:
                pass
            event.set()

        def wait() -> None:
            event.wait()
            time.sleep(1)
            assert time.monotonic() - start >= 11

        in_threads(poll, wait)

    assert verdicts(test, 0, 1) == ["holds", "holds"]


# -- loops that wait for time


def poll_until(is_done: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.1)


def test_a_thread_that_can_go_on_is_in_time() -> None:
    def test() -> None:
        done: list[int] = []
        thread = threading.Thread(target=done.append, args=(1,))
        thread.start()
        poll_until(lambda: done, 5)
        thread.join()

    assert verdicts(test, 0, 1, 2, 3) == ["holds"] * 4


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(5, ["holds", "holds"]), (0.45, ["holds", "violated"]), (0.15, ["violated", "violated"])],
)
def test_a_thread_that_sleeps_is_late_by_preemptions(seconds: float, expected: list[str]) -> None:
    """Whoever polls sleeps a few times for free while the other one sleeps for longer, and each
    time more costs one."""

    def test() -> None:
        done: list[int] = []

        def work() -> None:
            time.sleep(1)
            done.append(1)

        thread = threading.Thread(target=work)
        thread.start()
        poll_until(lambda: done, seconds)
        thread.join()

    assert verdicts(test, 0, 1) == expected


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_several_threads_that_poll(pause: float) -> None:
    def test() -> None:
        start = time.monotonic()

        def poll() -> None:
            while True:
                now = time.monotonic()
                if now >= start + 5:
                    break
                if pause:
                    time.sleep(pause)

        in_threads(poll, poll)
        assert time.monotonic() - start >= 5

    result = mazurka.explore(test, preemptions=1)
    assert result.verdict == "holds"
    assert result.executions is not None
    assert 1 < result.executions < 500


@pytest.mark.parametrize("clock", [time.monotonic, time.time_ns, datetime.now])
def test_a_loop_that_looks_at_the_clock_and_waits_for_something_else(
    clock: Callable[[], object],
) -> None:
    def test() -> None:
        done: list[int] = []

        def work() -> None:
            last = None
            while not done:
                last = clock()
            assert done or last

        thread = threading.Thread(target=work)
        thread.start()
        done.append(1)
        thread.join()

    assert verdicts(test, 2) == ["holds"]


def test_a_loop_that_looks_at_the_clock_and_waits_for_nothing() -> None:
    def test() -> None:
        def work() -> None:
            while True:
                last = time.monotonic()
                if last < 0:
                    break

        in_threads(work)

    result = mazurka.explore(test, preemptions=0)
    assert result.violation is not None
    assert result.violation.kind == "livelock"


# -- what does not look


def naps() -> None:
    def nap() -> None:
        time.sleep(1)
        time.sleep(1)

    in_threads(nap, nap, nap)


def waits_for_a_condition() -> None:
    condition = threading.Condition()

    def wait() -> None:
        with condition:
            condition.wait_for(lambda: False, timeout=1)

    in_threads(wait, lambda: time.sleep(1))


def logs() -> None:
    def log() -> None:
        logging.makeLogRecord({})
        time.sleep(1)

    in_threads(log, log)


def looks_when_alone() -> None:
    time.monotonic()
    in_threads(*[lambda: time.sleep(1)] * 3)
    time.monotonic()


@pytest.mark.parametrize("program", [naps, waits_for_a_condition, logs, looks_when_alone])
def test_sleep_that_nobody_sees_is_independent(program: Callable[[], object]) -> None:
    result = mazurka.explore(program, preemptions=2)
    assert (result.verdict, result.executions) == ("holds", 1)


def test_the_library_looks_without_operations() -> None:
    def test() -> None:
        with ThreadPoolExecutor(1) as pool:
            futures = [pool.submit(time.sleep, 1)]
            try:
                assert [future.result() for future in as_completed(futures, timeout=3)] == [None]
            except TimeoutError:
                late.append(1)

    late: list[int] = []
    assert verdicts(test, 1) == ["holds"]
    assert late


def test_looks_do_not_hide_races() -> None:
    def test() -> None:
        class Box:
            value = 0

        def work() -> None:
            time.monotonic()
            Box.value += 1
            time.monotonic()

        in_threads(work, work)

    result = mazurka.explore(test, preemptions=0, races=True)
    assert result.violation is not None
    assert result.violation.kind == "race"


# -- reports


def test_a_report_shows_what_was_read_and_can_be_replayed() -> None:
    result = mazurka.explore(is_in_time, preemptions=1)
    assert result.story is not None
    seen = [step.effects.reads.get("clock", "") for step in result.story.steps]
    assert [value[:6] for value in seen if value] == ["+5.000"]
    assert result.token is not None
    again = mazurka.explore(is_in_time, preemptions=1)
    assert again.token == result.token


# -- clocks as attributes of classes


def test_a_clock_in_a_class_is_no_method() -> None:
    """Built-in functions are not bound, whether a class is made before the exploration or in it."""

    class Earlier:
        now, sleep, draw = time.time, time.sleep, os.urandom

    def test() -> None:
        class Later:
            now, sleep, draw = time.time, time.sleep, os.urandom

        for kind in (Earlier, Later):
            kind().sleep(1)
            assert kind().now() >= start + 1
            assert len(kind().draw(4)) == 4

    start = time.time()
    assert mazurka.explore(test, preemptions=0).verdict == "holds"


# -- clocks of the program's own


def looks_twice() -> None:
    seen: list[float] = []
    in_threads(lambda: seen.append(time.time()), lambda: seen.append(time.monotonic()))
    assert sorted(seen) == [3.0, 5.0]


@pytest.mark.parametrize("name", ["sleep", "strftime", "localtime", "clock_gettime", "time_ns"])
def test_a_function_that_stands_for_one_of_time_stays(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a fixture that stops the time; the exploration neither fails nor asks it for itself."""
    asked: list[object] = []
    monkeypatch.setattr(time, "time", lambda: 3.0)
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    monkeypatch.setattr(time, name, asked.append)
    ours = (time.time, getattr(time, name))
    assert verdicts(looks_twice, 1) == ["holds"]
    assert (time.time, getattr(time, name)) == ours
    assert not asked


def test_registering_for_the_end_may_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("atexit.register", asked.append)
    monkeypatch.setattr("os.urandom", lambda size: b"1" * size)
    assert (
        mazurka.explore(lambda: os.urandom(2) == b"11" or 1 / 0, preemptions=1).verdict == "holds"
    )
    assert not asked


# -- microseconds


@pytest.mark.parametrize("parts", range(0, 1_000_000, 12_347))
def test_moments_a_microsecond_apart_are_never_told_as_one(parts: int) -> None:
    """Whenever the test is run: floats for the time of day are a quarter of that apart."""
    seconds = align(1_795_000_000 + parts / 1_000_003)
    moments = [seconds + count * 1e-6 for count in range(60)]
    assert len({datetime.fromtimestamp(moment) for moment in moments}) == 60
    assert len({int(moment * 1e6) for moment in moments}) == 60
    assert len({round(moment * 1e6) for moment in moments}) == 60
    assert len({round(moment, 6) for moment in moments}) == 60


def looks_by_the_microsecond() -> None:
    looks: list[int] = []
    in_threads(lambda: looks.append(time.time_ns()), lambda: looks.append(time.time_ns()))
    first, then = looks
    assert first % 1000 == then % 1000 == 0
    assert first != then


def test_clocks_begin_at_a_whole_microsecond() -> None:
    assert verdicts(looks_by_the_microsecond, 1) == ["holds"]
