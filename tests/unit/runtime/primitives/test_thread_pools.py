"""`multiprocessing.pool.ThreadPool` is a pool of threads, and works under control."""

from __future__ import annotations

import multiprocessing.dummy
import time
from multiprocessing.pool import ThreadPool

import mazurka


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
