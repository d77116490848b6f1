"""Interrupts that have to wait: a violation that is being confirmed is told all the same."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import checking
from mazurka.interrupts import first_interrupt_waits, interrupts_come_later

SEEN = """
from mazurka.model import *
x: Int[0, 2] = 0

def add():
    global x
    x = 1

def look():
    assert x == 0

threads = [add(), look()]
"""


@pytest.fixture(autouse=True)
def usual_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_interrupt_is_passed_over_and_the_second_is_heard() -> None:
    with first_interrupt_waits():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_signals_that_somebody_has_taken_are_left_alone() -> None:
    seen: list[Any] = []

    def look() -> None:
        with first_interrupt_waits():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    look()
    assert seen == [signal.default_int_handler, signal.SIG_IGN]


def test_an_interrupt_is_heard_at_the_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_come_later():  # noqa: PT012 - it comes later
        signal.raise_signal(signal.SIGINT)
        done.append("all")
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_violation_that_is_being_replayed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, confirm = tmp_path / "model.py", checking.confirm
    path.write_text(SEEN)

    def confirm_late(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return confirm(*given, **named)

    monkeypatch.setattr(checking, "confirm", confirm_late)
    try:
        verdict = mazurka.check(path, strategy="full").verdict
    except KeyboardInterrupt:  # or it would end the tests
        pytest.fail("the violation is lost")
    assert verdict == "violated"
