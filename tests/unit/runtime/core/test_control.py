"""Threads under control: what can happen, how often, and how runs end."""

from __future__ import annotations

import _thread
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import comb

import pytest
from runtime_deciders import (
    QUICK,
    Follow,
    all_schedules,
    explore_all,
    kinds,
    run_once,
)

from mazurka.runtime.core.failures import EndlessRunError, UnstoppableThreadError
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.program.program import RealProgram
from mazurka.stateless.runs import Abandon, Decider, Operation


def in_threads(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_test_without_threads_is_one_schedule() -> None:
    assert [schedule.trail for schedule in explore_all(lambda: None)] == [[]]


def test_one_thread_that_does_nothing() -> None:
    # start; then begin and end of the thread; then the join that waits for them: one order.
    (only,) = explore_all(lambda: in_threads(lambda: None))
    assert only.trail == [(0, "start"), (1, "begin"), (1, "end"), (0, "join")]


def test_interleavings_of_two_threads_that_do_nothing() -> None:
    # After `start 1`: `begin 1, end 1` (two steps of thread 1) against `start 2`, then thread 2's
    # two steps; `join 1` waits for end 1, `join 2` for end 2 and join 1.
    # Let s be start 2, b e thread 1, B E thread 2 (after s), j J the joins (after s, in order).
    # Orders of s with b e: s first, second or third.
    #  s b e: b e against B E: C(4,2) = 6 orders; j anywhere after e and J after both j and E:
    #     if e is last (3 orders: bBEe BbEe BEbe): j J follow: 3
    #     if E is last: j lies after e: e.g. b e B E: j in 3 places; b B e E and B b e E: 2 each: 7
    #  b s e: e against B E in any order: e B E: 3, B e E: 2, B E e: 1: 6
    #  b e s: B E, and j after s: before B, between, or after E: 3
    schedules = explore_all(lambda: in_threads(lambda: None, lambda: None))
    assert len(schedules) == 3 + 7 + 6 + 3


def steps(count: int) -> Callable[[], None]:
    """A thread that takes so many steps that are no business of others."""

    def body() -> None:
        semaphore = threading.Semaphore(count)
        for _ in range(count):
            semaphore.acquire()

    return body


def test_interleavings_of_a_thread_with_the_test_itself() -> None:
    # The test takes 3 steps between start and join; the thread begins, takes 2, and ends: all
    # interleavings of 3 with 4 steps.
    def test() -> None:
        thread = threading.Thread(target=steps(2))
        thread.start()
        steps(3)()
        thread.join()

    assert len(explore_all(test)) == comb(7, 3)


def test_a_lock_keeps_others_out() -> None:
    def test() -> None:
        lock = threading.Lock()
        inside: list[int] = []

        def section() -> None:
            with lock:
                inside.append(1)
                lock.locked()
                assert len(inside) == 1
                inside.pop()

        in_threads(section, section)

    schedules = explore_all(test)
    assert kinds(schedules) == set()
    assert {tuple(t for t, kind in s.trail if kind == "acquire") for s in schedules} == {
        (1, 2),
        (2, 1),
    }


def test_locks_taken_in_opposite_orders() -> None:
    def test() -> None:
        first, second = threading.Lock(), threading.Lock()

        def one() -> None:
            with first, second:
                pass

        def two() -> None:
            with second, first:
                pass

        in_threads(one, two)

    schedules = explore_all(test)
    assert kinds(schedules) == {"deadlock"}
    failed = next(f for s in schedules for f in s.ended.failures)
    assert failed.message.startswith(
        "nobody can go on: thread Thread-1 (one) waits to acquire lock"
    )
    assert "held by thread Thread-2 (two)" in failed.message
    assert failed.file == __file__
    assert len(failed.details) == 3
    assert any(not s.ended.failures for s in schedules)


def test_a_lost_notification_is_a_deadlock_that_names_the_condition() -> None:
    def test() -> None:
        condition = threading.Condition()

        def wait() -> None:
            with condition:
                condition.wait()

        thread = threading.Thread(target=wait)
        thread.start()
        with condition:
            condition.notify()
        thread.join()

    # The wait begins before the notification in one schedule: begin, acquire and wait of the
    # thread, then all of the test.  Otherwise the thread acquires after the test's release, and its
    # begin lies in one of four places among acquire, notify and release.
    schedules = explore_all(test)
    found = [f for s in schedules for f in s.ended.failures]
    assert (len(schedules), len(found)) == (5, 4)
    assert all("for a notification of condition" in f.message for f in found)


def test_notified_in_the_order_of_arrival() -> None:
    def test() -> None:
        condition = threading.Condition()
        woken: list[str] = []

        def wait() -> None:
            with condition:
                condition.wait()
                woken.append(threading.current_thread().name)

        in_threads(wait, wait, lambda: [notify_one(condition) for _ in range(2)])
        assert woken == ["Thread-1 (wait)", "Thread-2 (wait)"]

    def notify_one(condition: threading.Condition) -> None:
        with condition:
            condition.notify()

    main, first, second, notifier = 0, 1, 2, 3
    until_wait = [first] * 3 + [second] * 3
    schedule = [main] * 3 + until_wait + [notifier] * 8
    assert run_once(test, schedule).failures == []


def test_a_queue_between_two_threads() -> None:
    def test() -> None:
        channel: queue.Queue[int] = queue.Queue(maxsize=1)

        def produce() -> None:
            for item in range(3):
                channel.put(item)

        thread = threading.Thread(target=produce)
        thread.start()
        assert [channel.get() for _ in range(3)] == [0, 1, 2]
        thread.join()

    # Put and get alternate, for there is room for one: nothing to choose but whether the thread
    # ends before or after the last get.
    schedules = explore_all(test)
    assert kinds(schedules) == set()
    assert len(schedules) == 2


def test_semaphore_admits_as_many_as_it_has() -> None:
    def test() -> None:
        semaphore = threading.Semaphore(1)
        inside: list[int] = []

        def section() -> None:
            with semaphore:
                inside.append(1)
                assert len(inside) == 1
                inside.pop()

        in_threads(section, section)

    assert kinds(explore_all(test)) == set()


def test_an_event_set_before_and_after_the_wait() -> None:
    def test() -> None:
        event = threading.Event()
        thread = threading.Thread(target=event.wait)
        thread.start()
        event.set()
        thread.join()

    # `set` comes before begin, between begin and wait, or after the thread joined the waiters.
    assert len(explore_all(test)) == 3


def test_who_waits_for_an_event_is_woken_even_if_it_is_cleared_at_once() -> None:
    def test() -> None:
        event = threading.Event()
        thread = threading.Thread(target=event.wait)
        thread.start()
        event.set()
        event.clear()
        thread.join()

    # start, begin, wait; then set and clear without a break.
    assert run_once(test, [0, 1, 1, 0, 0]).failures == []
    assert [f.kind for f in run_once(test, [0, 0, 0, 1, 1]).failures] == ["deadlock"]


def test_barrier_lets_all_through_together() -> None:
    def test() -> None:
        barrier = threading.Barrier(2)
        arrived: list[int] = []

        def meet() -> None:
            arrived.append(1)
            barrier.wait()
            assert len(arrived) == 2

        in_threads(meet, meet)

    with RealProgram(test, QUICK) as program:
        some = [next_one for next_one, _ in zip(all_schedules(program), range(300), strict=False)]
    assert kinds(some) == set()


def test_an_executor_inside_the_test() -> None:
    def test() -> None:
        with ThreadPoolExecutor(2) as executor:
            assert list(executor.map(lambda n: n * n, range(3))) == [0, 1, 4]
            assert executor.submit(sum, (1, 2)).result() == 3
            failing = executor.submit(int, "x")
            assert isinstance(failing.exception(), ValueError)

    with RealProgram(test, QUICK) as program:
        some = [next_one for next_one, _ in zip(all_schedules(program), range(200), strict=False)]
    assert kinds(some) == set()


def test_workers_say_nothing_about_the_end_of_their_run(caplog: pytest.LogCaptureFixture) -> None:
    def test() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: pool.submit(int).result()).result()

    assert kinds(explore_all(test)) == {"deadlock"}
    assert caplog.records == []


def test_threads_of_an_executor_that_was_not_shut_down_are_no_leak() -> None:
    kept: list[ThreadPoolExecutor] = []

    def test() -> None:
        kept[:] = [ThreadPoolExecutor(1)]
        assert kept[0].submit(lambda: 1).result() == 1

    assert run_once(test).failures == []
    kept.clear()


def test_a_timer_fires_at_any_moment_or_is_cancelled() -> None:
    def test() -> None:
        fired: list[int] = []
        timer = threading.Timer(3600, fired.append, (1,))
        timer.start()
        timer.cancel()
        timer.join()
        outcomes.add(len(fired))

    outcomes: set[int] = set()
    explore_all(test)
    assert outcomes == {0, 1}


def test_a_subclass_that_starts_threads_of_its_own() -> None:
    names: list[str] = []

    class Child(threading.Thread):
        def run(self) -> None:
            names.append(threading.current_thread().name)

    class Parent(threading.Thread):
        def run(self) -> None:
            child = Child(name="child")
            child.start()
            assert child.is_alive()
            child.join()
            assert not child.is_alive()

    def test() -> None:
        parent = Parent()
        parent.start()
        parent.join()

    assert run_once(test).failures == []
    assert names == ["child"]


def test_threads_of_the_low_level_module() -> None:
    done: list[int] = []

    def test() -> None:
        finished = _thread.allocate_lock()
        finished.acquire()

        def body(value: int, *, more: int) -> None:
            done.append(value + more)
            finished.release()

        _thread.start_new_thread(body, (1,), {"more": 2})
        finished.acquire()

    # The thread's release comes before its end, and the last acquire before or after that.
    schedules = explore_all(test)
    assert kinds(schedules) == set()
    assert len(schedules) == 2
    assert done == [3, 3]


def test_a_thread_may_exit() -> None:
    def exits() -> None:
        raise SystemExit(3)

    assert run_once(lambda: in_threads(exits)).failures == []


def test_exceptions_are_found_with_their_place() -> None:
    def broken() -> None:
        raise KeyError("lost")

    (failed,) = run_once(lambda: in_threads(broken)).failures
    assert (failed.kind, failed.message, failed.thread) == ("exception", "KeyError: 'lost'", 1)
    assert failed.file == __file__
    assert failed.line == broken.__code__.co_firstlineno + 1


def test_assertions_of_the_test_itself() -> None:
    def test() -> None:
        assert 1 == 2, "one is not two"

    (failed,) = run_once(test).failures
    assert (failed.kind, failed.thread) == ("assert", 0)
    assert failed.message.startswith("AssertionError: one is not two")


def test_a_thread_that_can_never_end_is_a_leak_unless_it_is_a_daemon() -> None:
    def forgets(daemon: bool) -> Callable[[], None]:
        def test() -> None:
            threading.Thread(target=queue.Queue().get, daemon=daemon).start()

        return test

    (failed,) = run_once(forgets(daemon=False)).failures
    assert failed.kind == "leak"
    assert "to get from queue 0#1, which is empty" in failed.message
    assert run_once(forgets(daemon=True)).failures == []


def test_numbers_follow_the_creation_not_the_schedule() -> None:
    def grandchild() -> None:
        pass

    def child() -> None:
        in_threads(grandchild)

    def test() -> None:
        in_threads(child, child)

    with RealProgram(test, QUICK) as program:
        one, other = Follow(), Follow([0, 0, 2, 2, 4])  # the second child starts its child first
        program.run(one)
        program.run(other)
    ends = {number for number, kind in one.seen if kind == "end"}
    assert ends == {number for number, kind in other.seen if kind == "end"} == {1, 2, 3, 4}
    assert one.seen.index((3, "begin")) < one.seen.index((4, "begin"))
    assert other.seen.index((4, "begin")) < other.seen.index((3, "begin"))


def test_finally_blocks_run_through_when_a_run_is_over() -> None:
    passed: list[str] = []

    def test() -> None:
        lock, other, channel = threading.Lock(), threading.RLock(), queue.Queue[int]()

        def body() -> None:
            try:
                with lock:
                    try:
                        channel.get()
                    except Exception:
                        passed.append("caught")
            finally:
                with other:
                    channel.put(1)
                passed.append("left")
                channel.get()
                channel.get()
                passed.append("never")

        in_threads(body)

    assert [f.kind for f in run_once(test).failures] == ["deadlock"]
    assert passed == ["left"]


def test_a_thread_that_cannot_be_ended_ends_the_exploration() -> None:
    def stubborn() -> None:
        while True:
            with suppress(BaseException):
                queue.Queue[int]().get()

    before = threading.enumerate()
    with pytest.raises(UnstoppableThreadError, match="catches every exception"):
        run_once(lambda: in_threads(stubborn))
    assert threading.enumerate() == before
    with pytest.raises(UnstoppableThreadError, match="thread main"):
        run_once(stubborn)
    assert threading.enumerate() == before


class Breaks(Decider):
    """A search that raises after some decisions."""

    def __init__(self, error: type[BaseException], after: int) -> None:
        self._error = error
        self._left = after

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self._left -= 1
        if self._left < 0:
            raise self._error
        return enabled[-1]


@pytest.mark.parametrize("after", range(8))
def test_errors_of_the_search_reach_the_caller(after: int) -> None:
    original = threading.Lock
    with pytest.raises(ZeroDivisionError):
        RealProgram(lambda: in_threads(steps(1), steps(1)), QUICK).run(
            Breaks(ZeroDivisionError, after)
        )
    assert threading.Lock is original


@pytest.mark.parametrize("after", range(8))
def test_a_search_can_abandon_a_run_and_begin_another(after: int) -> None:
    with RealProgram(lambda: in_threads(steps(1), steps(1)), QUICK) as program:
        ended = program.run(Breaks(Abandon, after))
        assert ended.abandoned
        assert ended.failures == []
        assert not program.run(Follow()).abandoned


def test_a_choice_that_cannot_go_on_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"thread 0 was chosen, but only \[1\] can go on"):
        run_once(lambda: in_threads(lambda: None), [0, 0])  # to start the thread, and to join it


def test_exceptions_that_are_meant_for_the_caller() -> None:
    def test() -> None:
        threading.Thread(target=queue.Queue().get).start()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_once(test)


def test_a_run_that_never_ends() -> None:
    def test() -> None:
        event = threading.Event()
        count = 0
        while not event.is_set():
            count += 1

    with pytest.raises(EndlessRunError, match="more than 50 steps"):
        RealProgram(test, ControlSettings(max_steps=50, pin=False)).run(Follow())


def test_a_daemon_that_outlives_the_test() -> None:
    beats = threading.Semaphore(0)

    def beat() -> None:
        while True:
            beats.release()

    def test() -> None:
        threading.Thread(target=beat, daemon=True).start()

    with pytest.raises(EndlessRunError, match=r"daemon thread Thread-1 \(beat\) goes on at .*:\d"):
        RealProgram(test, ControlSettings(max_steps=50, pin=False)).run(Follow())


def test_explorations_cannot_be_nested() -> None:
    (failed,) = run_once(lambda: run_once(lambda: None)).failures
    assert "explorations cannot be nested" in failed.message
