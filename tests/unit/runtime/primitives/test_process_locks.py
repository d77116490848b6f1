"""Locks of `multiprocessing` that stay in one process are locks; to start a process is refused."""

from __future__ import annotations

import multiprocessing
import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.soundness.python_agreement import compare
from tests.soundness.python_runs import module_of

import mazurka
from mazurka.runtime.primitives.process_lock import RealSemLock, SemLock

MADE_BEFORE = multiprocessing.Lock()
RECURSIVE_BEFORE = multiprocessing.RLock()
UNITS_BEFORE = multiprocessing.Semaphore(1)


def count_with(lock: Any) -> None:
    hits = [0]

    def count() -> None:
        with lock:
            hits[0] += 1

    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hits == [2]


@pytest.mark.parametrize(
    "make",
    [
        *(multiprocessing.Lock, multiprocessing.RLock, multiprocessing.Semaphore),
        *(multiprocessing.BoundedSemaphore, multiprocessing.Condition),
        *(lambda: MADE_BEFORE, lambda: RECURSIVE_BEFORE, lambda: UNITS_BEFORE),
    ],
)
def test_they_exclude(make: Callable[[], Any]) -> None:
    result = mazurka.explore(lambda: count_with(make()), preemptions=None)
    assert (result.verdict, result.executions) == ("holds", 2), result.report()
    assert result.not_observed == ()


def test_a_semaphore_of_two_lets_both_in() -> None:
    result = mazurka.explore(lambda: count_with(multiprocessing.Semaphore(2)), preemptions=1)
    assert result.violation is not None


def test_a_deadlock_is_told_by_names() -> None:
    def test() -> None:
        one, other = multiprocessing.Lock(), multiprocessing.RLock()

        def there() -> None:
            with one, other:
                pass

        thread = threading.Thread(target=there)
        thread.start()
        with other, one:
            pass
        thread.join()

    result = mazurka.explore(test, preemptions=2)
    assert result.violation is not None
    assert result.violation.kind == "deadlock"
    text = " ".join(result.report(200).split())
    assert "waits to acquire lock one, held by" in text
    assert "waits to acquire rlock other, held by" in text


def test_a_timeout_is_one() -> None:
    def test() -> None:
        event = multiprocessing.Event()
        thread = threading.Thread(target=event.set)
        thread.start()
        assert event.wait(5)
        thread.join()

    result = mazurka.explore(test, preemptions=2)
    assert result.violation is not None
    assert "the timeout of 5 s at line" in result.violation.condition
    assert mazurka.explore(test, timeouts="last-resort").verdict == "holds"


TIMED = """
import multiprocessing
import threading

def program(note):
    lock, units = multiprocessing.RLock(), multiprocessing.Semaphore(1)

    def work():
        with lock:
            with lock:
                note(units.acquire(timeout=1))
        note(units.acquire(block=False))

    thread = threading.Thread(target=work)
    thread.start()
    if units.acquire(timeout=1):
        units.release()
    with lock:
        pass
    thread.join()
"""


def test_searches_see_what_brute_force_sees(tmp_path: Path) -> None:
    agreement = compare(module_of(tmp_path, TIMED), 150)
    assert agreement is not None
    assert agreement.problems == []
    assert agreement.executions == 5


@pytest.mark.skipif(RealSemLock is None, reason="this system has no such locks")
@pytest.mark.parametrize("seed", range(6))
def test_one_thread_sees_what_it_sees_of_the_real_ones(seed: int) -> None:
    """The same calls, with the same results and the same exceptions."""
    chance = random.Random(seed)
    kind, value = chance.randrange(2), chance.randint(0, 2)
    most = 1 if kind == 0 else chance.randint(max(value, 1), 3)
    value = 1 if kind == 0 else value
    calls = [chance.choice(("acquire", "acquire", "release", "_count", "_get_value", "_is_mine"))]
    calls += chance.choices(
        ("acquire", "release", "_count", "_is_mine", "_get_value", "_is_zero"), k=20
    )

    def use(lock: Any) -> list[object]:
        seen: list[object] = []
        for name in calls:
            given = (False,) if name == "acquire" else ()
            try:
                seen.append(getattr(lock, name)(*given))
            except (ValueError, AssertionError) as error:
                seen.append((type(error), str(error)))
        return seen

    def test() -> None:
        told.append(use(SemLock(kind, value, most)))

    told: list[list[object]] = []
    real = RealSemLock(kind, value, most, f"/mazurka-test-{os.getpid()}-{seed}", True)
    expected = use(real)
    result = mazurka.explore(test, preemptions=0)
    assert result.verdict == "holds", result.report()
    assert all(seen == expected for seen in told)


def start_a_process() -> None:
    multiprocessing.Process(target=print).start()


def start_a_pool() -> None:
    with ProcessPoolExecutor(1) as pool:
        pool.submit(abs, -1).result()


def start_by_fork() -> None:
    if os.fork() == 0:
        os._exit(0)


@pytest.mark.parametrize("test", [start_a_process, start_a_pool, start_by_fork])
def test_to_start_a_process_is_refused(test: Callable[[], None]) -> None:
    result = mazurka.explore(test, preemptions=1)
    assert result.error is not None
    assert "the test starts another process" in str(result.error)
    assert "other processes are not under control" in str(result.error)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads may still be ending
def test_afterwards_they_are_as_before() -> None:
    mazurka.explore(lambda: count_with(MADE_BEFORE), preemptions=1)
    assert type(MADE_BEFORE._semlock) is RealSemLock  # type: ignore[attr-defined]
    with MADE_BEFORE:
        assert not MADE_BEFORE.acquire(False)
    process = multiprocessing.get_context("fork").Process(target=os._exit, args=(3,))
    process.start()
    process.join()
    assert process.exitcode == 3


def test_a_lock_that_a_run_leaves_held_is_put_back() -> None:
    def test() -> None:
        MADE_BEFORE.acquire()
        thread = threading.Thread(target=MADE_BEFORE.acquire)
        thread.start()
        thread.join()

    result = mazurka.explore(test, preemptions=1)
    assert result.violation is not None
    assert result.violation.kind == "deadlock"
    assert MADE_BEFORE.acquire(False)
    MADE_BEFORE.release()
