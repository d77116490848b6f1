"""`multiprocessing.pool.ThreadPool` is a pool of threads, and works under control; and so does an
executor that was there before the test."""

from __future__ import annotations

import multiprocessing.dummy
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest

import mazurka
from mazurka.runtime.sharing.monitoring import ENDS_LATE

OLDER = ThreadPoolExecutor(2)
LOCAL = threading.local()
needs_prompt_ends = pytest.mark.skipif(
    ENDS_LATE, reason="free-threaded builds call finalizers later, which verdicts name"
)


def test_an_executor_that_was_there_before_works() -> None:
    """Its threads wait for more work when the test ends, and log that they are unwound."""

    def test() -> None:
        assert OLDER.submit(abs, -1).result() == 1

    result = mazurka.explore(test, preemptions=1)
    assert (result.verdict, result.not_observed) == ("holds", ()), result.report()


@needs_prompt_ends
def test_what_a_thread_keeps_for_itself_ends_with_it() -> None:
    ended: list[int] = []

    class Kept:
        def __del__(self) -> None:
            ended.append(1)

    def test() -> None:
        ended.clear()
        thread = threading.Thread(target=lambda: setattr(LOCAL, "kept", Kept()))
        thread.start()
        thread.join()
        assert ended == [1]

    result = mazurka.explore(test, preemptions=1)
    assert (result.verdict, result.not_observed) == ("holds", ()), result.report()


@needs_prompt_ends
def test_a_pool_of_threads_works() -> None:
    def test() -> None:
        with ThreadPool(1) as pool:
            assert pool.apply(abs, (-1,)) == 1

    result = mazurka.explore(test, preemptions=0)
    assert (result.verdict, result.not_observed) == ("holds", ()), result.report()


def test_the_order_of_results_is_not_that_of_tasks() -> None:
    def work(number: int) -> int:
        time.sleep(1)
        return number

    def test() -> None:
        with multiprocessing.dummy.Pool(2) as pool:
            assert list(pool.imap_unordered(work, [1, 2])) == [1, 2]

    assert mazurka.explore(test, preemptions=0).verdict == "violated"


def test_a_pool_that_is_not_under_control_is_as_ever() -> None:
    mazurka.explore(lambda: None, preemptions=0)
    with ThreadPool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
