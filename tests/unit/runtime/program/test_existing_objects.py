"""Locks, queues and names that existed before the exploration are under control, too."""

from __future__ import annotations

import functools
import logging
import queue
import sys
import threading
import time
from _thread import allocate_lock as early_allocate
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue as EarlySimpleQueue
from threading import Condition as EarlyCondition
from threading import Lock as EarlyLock
from threading import RLock as EarlyRLock
from time import monotonic as early_monotonic
from time import sleep as early_sleep
from typing import Any, NamedTuple

import pytest
from runtime_deciders import QUICK, Follow, explore_all, kinds, run_once

from mazurka.runtime.primitives import lock as locks
from mazurka.runtime.primitives import queue as queues
from mazurka.runtime.program.program import RealProgram


class Bank:
    shared = threading.Lock()

    def __init__(self) -> None:
        self.mine = threading.RLock()

    @functools.cached_property
    def slow(self) -> int:
        with BANK.mine:
            return 1


class Slotted:
    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.Lock()


@dataclass
class Made:
    lock: Any = field(default_factory=threading.Lock)


def with_default(lock: Any = threading.Lock()) -> Any:  # noqa: B008
    return lock


def closing_over() -> Callable[[], Any]:
    lock = threading.Lock()
    return lambda: lock


class Named(NamedTuple):
    number: int
    lock: Any


class Proxy:
    """An object that must not be asked anything before its time."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("asked too early")


PROXY = Proxy()
LOCKS: defaultdict[str, Any] = defaultdict(threading.Lock)
LOCK = threading.Lock()
BANK = Bank()
SLOTTED = Slotted()
IN_CONTAINERS: dict[str, Any] = {"locks": [threading.Lock()], "named": Named(0, threading.RLock())}
IN_TUPLES = (1, (threading.Lock(), "inner"))
CLOSURE = closing_over()
CONDITION = threading.Condition()
LOCK_CONDITION = threading.Condition(LOCK)
EVENT = threading.Event()
SEMAPHORE = threading.Semaphore(1)
QUEUE: queue.Queue[int] = queue.Queue()
SIMPLE: queue.SimpleQueue[int] = queue.SimpleQueue()
EXECUTOR = ThreadPoolExecutor(1)

PLACES: dict[str, Callable[[], Any]] = {
    "module": lambda: LOCK,
    "class": lambda: Bank.shared,
    "instance": lambda: BANK.mine,
    "slot": lambda: SLOTTED.lock,
    "container": lambda: IN_CONTAINERS["locks"][0],
    "tuple": lambda: IN_TUPLES[1][0],
    "named tuple": lambda: IN_CONTAINERS["named"].lock,
    "closure": lambda: CLOSURE(),
    "default": lambda: with_default(),
    "factory": lambda: Made().lock,
    "default of a dictionary": lambda: defaultdict(LOCKS.default_factory)[0],
    "early name": lambda: EarlyLock(),
    "early rlock": lambda: EarlyRLock(),
    "early allocate": lambda: early_allocate(),
}


def in_threads(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("place", PLACES)
def test_locks_wherever_they_are(place: str) -> None:
    before = PLACES[place]()

    def test() -> None:
        lock = PLACES[place]()
        assert type(lock) in (locks.Lock, locks.RLock)
        inside: list[int] = []

        def section() -> None:
            with lock:
                inside.append(1)
                early_sleep(1)
                assert len(inside) == 1
                inside.pop()

        in_threads(section, section)

    # In the schedule 0 0 0 the test starts both and stands before its join; thread 1 takes the
    # lock and sleeps, and thread 2 comes to the lock, where it must wait.
    assert run_once(test, [0, 0, 1, 1, 2, 1]).failures == []
    assert run_once(test).failures == []
    after = PLACES[place]()
    assert type(after) is type(before)
    assert type(after) not in (locks.Lock, locks.RLock)
    assert after.acquire(False)
    after.release()


def test_a_module_level_lock_is_held_as_it_was_found() -> None:
    def test() -> None:
        LOCK.acquire()

    LOCK.acquire()
    try:
        (failed,) = run_once(test).failures
        assert failed.kind == "deadlock"
        assert f"lock {__name__}.LOCK" in failed.message
        assert LOCK.locked()
    finally:
        LOCK.release()


def test_a_run_that_ends_badly_leaves_locks_as_it_found_them() -> None:
    def test() -> None:
        LOCK.acquire()
        BANK.mine.acquire()
        SEMAPHORE.acquire()
        EVENT.set()
        threading.Lock().acquire()
        queue.Queue[int]().get()

    with RealProgram(test, QUICK) as program:
        assert [len(program.run(Follow()).failures) for _ in range(3)] == [1, 1, 1]
    assert not LOCK.locked()
    assert BANK.mine.acquire(False)
    BANK.mine.release()
    assert SEMAPHORE.acquire(False)
    SEMAPHORE.release()
    assert not EVENT.is_set()


def test_objects_are_called_what_the_program_calls_them() -> None:
    def waits() -> None:
        with CONDITION:
            CONDITION.wait()

    names = [
        (waits, f"condition {__name__}.CONDITION"),
        (lambda: EVENT.wait(), f"event {__name__}.EVENT"),
        (lambda: QUEUE.get(), f"queue {__name__}.QUEUE"),
        (lambda: SIMPLE.get(), f"queue {__name__}.SIMPLE"),
    ]
    for test, name in names:
        (failed,) = run_once(test).failures
        assert name in failed.message


def test_two_locks_in_one_closure_are_two() -> None:
    one, other = threading.Lock(), threading.Lock()

    def test() -> None:
        with one, other:
            pass

    assert run_once(test).failures == []


def test_a_module_imported_during_a_run_gets_the_real_names_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "imported_late.py").write_text("from threading import Lock\nfrom time import sleep")

    def test() -> None:
        import imported_late

        with imported_late.Lock():
            imported_late.sleep(1000)

    sys.path.insert(0, str(tmp_path))
    try:
        assert run_once(test).failures == []
        late = sys.modules.pop("imported_late")
        assert (late.Lock, late.sleep) == (threading.Lock, time.sleep)
    finally:
        sys.path.remove(str(tmp_path))


def test_conditions_made_before() -> None:
    for condition in (CONDITION, LOCK_CONDITION):
        ready: list[int] = []

        def test(condition: EarlyCondition = condition, ready: list[int] = ready) -> None:
            ready.clear()

            def wait() -> None:
                condition.acquire()
                while not ready:
                    condition.wait()
                condition.release()

            thread = threading.Thread(target=wait)
            thread.start()
            with condition:
                ready.append(1)
                condition.notify_all()
            thread.join()

        schedules = explore_all(test)
        assert kinds(schedules) == set()
        assert len(schedules) == 5  # as for a condition of the test's own


def test_queues_and_events_made_before() -> None:
    def test() -> None:
        assert type(SIMPLE) is queues.SimpleQueue
        assert type(EarlySimpleQueue()) is queues.SimpleQueue

        def produce() -> None:
            QUEUE.put(1)
            with QUEUE.mutex:
                QUEUE.queue.append(2)
            SIMPLE.put(3)
            EVENT.set()

        thread = threading.Thread(target=produce)
        thread.start()
        EVENT.wait()
        assert [QUEUE.get(), QUEUE.get(), SIMPLE.get()] == [1, 2, 3]
        EVENT.clear()
        thread.join()

    assert kinds(explore_all(test)) == set()
    assert type(SIMPLE) is queue.SimpleQueue
    QUEUE.put(5)
    assert QUEUE.get(timeout=1) == 5
    assert type(QUEUE.mutex) is type(threading.Lock())


def test_an_executor_made_before() -> None:
    def test() -> None:
        assert EXECUTOR.submit(lambda: 7).result() == 7

    with RealProgram(test, QUICK) as program:
        assert [program.run(Follow()).failures for _ in range(3)] == [[], [], []]


def test_properties_that_lock_while_they_compute() -> None:
    def test() -> None:
        bank = Bank()
        in_threads(lambda: bank.slow, lambda: bank.slow)

    assert kinds(explore_all(test)[:50]) == set()


def test_logging_from_two_threads() -> None:
    class Listing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            time.sleep(1)  # a point, inside the handler's lock
            lines.append(record.getMessage())

    lines: list[str] = []
    logger = logging.getLogger("mazurka.tests.existing")
    handler = Listing()
    logger.addHandler(handler)
    logger.propagate = False

    def test() -> None:
        in_threads(lambda: logger.error("one"), lambda: logger.error("two"))

    try:
        assert run_once(test, [0, 0, 1, 1, 2, 1]).failures == []
    finally:
        logger.removeHandler(handler)
    assert sorted(lines) == ["one", "two"]


def test_clocks_bound_early() -> None:
    def test() -> None:
        start = early_monotonic()
        early_sleep(1000)
        assert 1000 <= early_monotonic() - start < 1001

    assert run_once(test).failures == []


def test_a_lock_that_outlives_its_run_can_be_used_without_control() -> None:
    kept: list[Any] = []

    def test() -> None:
        kept[:] = [
            threading.Lock(),
            threading.RLock(),
            threading.Condition(),
            queue.Queue(),
            queue.SimpleQueue(),
            threading.Event(),
            threading.Semaphore(),
        ]

    assert run_once(test).failures == []
    lock, rlock, condition, channel, simple, event, semaphore = kept
    for each in (lock, rlock, semaphore):
        with each:
            pass
    with condition:
        condition.notify_all()
        assert not condition.wait(0.001)
    for each in (channel, simple):
        each.put(1)
        assert each.get(timeout=1) == 1
    event.set()
    assert event.wait(1)
    worker = threading.Thread(target=lambda: channel.put(2))
    worker.start()
    assert channel.get(timeout=5) == 2
    worker.join()
    assert run_once(lambda: channel.put(lock.acquire())).failures == []
    assert lock.locked()
