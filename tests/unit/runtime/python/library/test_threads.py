"""What a thread finds when it begins, while another one changes it: both orders are explored."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.runtime.primitives.thread import Beginning, beginning

Change = Callable[[Any, list[int]], None]


def set_target(thread: Any, got: list[int]) -> None:
    thread._target = lambda _: got.append(5)


def set_arguments(thread: Any, got: list[int]) -> None:
    thread._args = (5,)


def set_run(thread: Any, got: list[int]) -> None:
    thread.run = lambda: got.append(5)


def set_function(timer: Any, got: list[int]) -> None:
    timer.function = lambda _: got.append(5)


def set_its_arguments(timer: Any, got: list[int]) -> None:
    timer.args = [5]


def begin(make: Callable[[list[int]], threading.Thread], change: Change, expected: int) -> str:
    def program() -> None:
        got: list[int] = []
        thread = make(got)
        other = threading.Thread(target=change, args=(thread, got))
        thread.start()
        other.start()
        thread.join()
        other.join()
        assert got == [expected]

    return mazurka.explore(program, preemptions=1).verdict


def make_thread(got: list[int]) -> threading.Thread:
    return threading.Thread(target=got.append, args=(1,))


def make_timer(got: list[int]) -> threading.Thread:
    return threading.Timer(0, got.append, [1])


@pytest.mark.parametrize("expected", [1, 5])
@pytest.mark.parametrize(
    ("make", "change"),
    [
        (make_thread, set_target),
        (make_thread, set_arguments),
        (make_thread, set_run),
        (make_timer, set_function),
        (make_timer, set_its_arguments),
    ],
)
def test_a_thread_begins_before_the_change_or_after_it(
    make: Callable[[list[int]], threading.Thread], change: Change, expected: int
) -> None:
    assert begin(make, change, expected) == "violated"


def test_without_observing_it_one_order_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "find_run", Beginning().find_run)
    found = {begin(make_thread, set_run, expected) for expected in (1, 5)}
    assert "holds" in found
