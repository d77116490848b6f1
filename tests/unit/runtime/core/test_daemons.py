"""Daemon threads that never end: a test is over when all other threads are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from tests.limits import ENOUGH

import mazurka


class Box:
    n = 0


def beats(box: Box, stop: threading.Event | None = None, daemon: bool = True) -> threading.Thread:
    """Start a thread that counts for ever."""

    def beat() -> None:
        while True:
            if stop is None:
                time.sleep(1)
            elif stop.wait(1):
                return
            box.n += 1

    thread = threading.Thread(target=beat, daemon=daemon)
    thread.start()
    return thread


def sleeping() -> None:
    box = Box()
    beats(box)
    box.n += 1


def waiting() -> None:
    beats(Box(), threading.Event())


def two_of_them() -> None:
    box = Box()
    beats(box)
    beats(box)


def others_are_left() -> None:
    box = Box()
    beats(box)

    def work() -> None:
        box.n += 1

    threading.Thread(target=lambda: threading.Thread(target=work).start()).start()


FINE = [sleeping, waiting, two_of_them, others_are_left]


@pytest.mark.parametrize("test", FINE)
def test_they_are_left_when_all_others_are_over(test: Callable[[], None]) -> None:
    result = mazurka.explore(test, preemptions=2, seconds=ENOUGH)
    assert result.verdict == "holds", result.report()
    assert result.executions > 1


@pytest.mark.parametrize("test", FINE)
def test_all_strategies_agree(test: Callable[[], None]) -> None:
    searches = {
        name: mazurka.explore(test, preemptions=1, strategy=name, seconds=ENOUGH)
        for name in ("algorithm1", "algorithm2", "cb-dfs")
    }
    assert {result.verdict for result in searches.values()} == {"holds"}
    counts = {name: result.executions for name, result in searches.items()}
    assert counts["algorithm1"] == counts["algorithm2"] <= counts["cb-dfs"]


def disturbed() -> None:
    box = Box()
    beats(box)
    box.n = 7
    assert box.n == 7


def disturbed_in_a_thread_of_a_thread() -> None:
    box = Box()
    beats(box)

    def work() -> None:
        box.n = 7
        assert box.n == 7

    threading.Thread(target=lambda: threading.Thread(target=work).start()).start()


def fails_in_the_end() -> None:
    def beat() -> None:
        time.sleep(1)
        raise ValueError

    threading.Thread(target=beat, daemon=True).start()


def fails_by_itself() -> None:
    beats(Box())
    raise ValueError


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        (disturbed, "assert"),
        (disturbed_in_a_thread_of_a_thread, "assert"),
        (fails_in_the_end, "exception"),
        (fails_by_itself, "exception"),
    ],
)
def test_what_they_do_until_then_is_seen(test: Callable[[], None], kind: str) -> None:
    result = mazurka.explore(test, preemptions=2, seconds=ENOUGH)
    assert result.verdict == "violated", result.report()
    assert result.violation is not None
    assert result.violation.kind == kind
    assert result.token is not None


def left_for_good() -> None:
    def beat() -> None:
        while True:
            time.sleep(1)

    threading.Thread(target=beat).start()


def test_a_thread_that_is_no_daemon_is_a_finding() -> None:
    result = mazurka.explore(left_for_good, preemptions=1, seconds=ENOUGH)
    assert result.verdict == "violated", result.report()


def test_it_makes_no_difference_for_daemons_that_end() -> None:
    def joined(daemon: bool) -> None:
        box, stop = Box(), threading.Event()
        thread = beats(box, stop, daemon)
        stop.set()
        thread.join()

    results = [mazurka.explore(lambda d=d: joined(d), preemptions=2) for d in (True, False)]
    assert [result.verdict for result in results] == ["holds", "holds"]
    assert results[0].executions == results[1].executions > 1


def fails_late(done: threading.Event | None) -> None:
    """A daemon that works in the end, after many sleeps, and fails then."""

    def beat() -> None:
        for _ in range(20):
            time.sleep(1)
        try:
            raise ValueError("late")
        finally:
            if done is not None:
                done.set()

    threading.Thread(target=beat, daemon=True).start()
    if done is not None:
        done.wait()


def test_what_they_would_do_later_is_not_seen() -> None:
    """As the documentation says; a test that waits for it sees it."""
    assert mazurka.explore(lambda: fails_late(None), preemptions=0).verdict == "holds"
    waited = mazurka.explore(lambda: fails_late(threading.Event()), preemptions=0)
    assert waited.violation is not None
    assert "late" in waited.violation.message
