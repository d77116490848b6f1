"""`threading.enumerate` and `active_count` see the threads of the run, and only those."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import mazurka


def joins_whatever_is_listed() -> None:
    done: list[int] = []
    for number in range(2):
        threading.Thread(target=done.append, args=(number,)).start()
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join()
    assert len(done) == 2


def nobody_is_left() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert threading.active_count() == 1
    assert threading.enumerate() == [threading.current_thread()]


def one_is_listed() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    count = threading.active_count()
    thread.join()
    assert count == 2


def started_by_another() -> None:
    inner = threading.Thread(target=int)
    outer = threading.Thread(target=inner.start)
    outer.start()
    count = threading.active_count()
    outer.join()
    inner.join()
    assert count != 3  # main, and the two others


@pytest.mark.parametrize(
    ("test", "preemptions", "verdict"),
    [
        (joins_whatever_is_listed, 2, "holds"),
        (nobody_is_left, 2, "holds"),
        (one_is_listed, 0, "holds"),
        (one_is_listed, 1, "violated"),
        (started_by_another, 0, "holds"),
        (started_by_another, 2, "violated"),
    ],
)
def test_threads_are_listed(test: Callable[[], None], preemptions: int, verdict: str) -> None:
    result = mazurka.explore(test, preemptions=preemptions)
    assert result.verdict == verdict, result.report()


def test_both_algorithms_see_the_same() -> None:
    seen = [
        mazurka.explore(joins_whatever_is_listed, preemptions=2, strategy=strategy).executions
        for strategy in ("algorithm1", "algorithm2")
    ]
    assert seen[0] == seen[1] > 1


def test_the_real_ones_are_back() -> None:
    mazurka.explore(nobody_is_left, preemptions=0)
    assert threading.main_thread() in threading.enumerate()
    assert threading.enumerate.__module__ == "threading"
