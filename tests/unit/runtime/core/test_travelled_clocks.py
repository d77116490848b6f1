"""Clocks that C code of the program has replaced: they are the program's own."""

from __future__ import annotations

import sys
import threading
import time
from types import ModuleType

import pytest

import mazurka

HOURS = 10_000.0
"""What virtual clocks show after a sleep, and no other clock does."""


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Something that looks like `time_machine`, where the program can go to a time."""
    stack: list[str] = []
    machine = ModuleType("time_machine")
    machine.__dict__["traveller_stack"] = stack
    monkeypatch.setitem(sys.modules, "time_machine", machine)
    return stack


def measure_sleep() -> float:
    """How much later a thread says it is after a long sleep."""
    found: list[float] = []

    def work() -> None:
        before = time.time()
        time.sleep(HOURS)
        found.append(time.time() - before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("travelling", [True, False])
def test_a_clock_that_the_program_has_replaced_is_asked(stack: list[str], travelling: bool) -> None:
    def program() -> None:
        if travelling:
            stack.append("there")
        later = measure_sleep()
        if travelling:
            stack.pop()
            assert later < HOURS
        else:
            assert later >= HOURS

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def test_other_clocks_go_on(stack: list[str]) -> None:
    def program() -> None:
        stack.append("there")
        before = time.monotonic()
        time.sleep(HOURS)
        assert time.monotonic() - before >= HOURS
        stack.pop()

    assert mazurka.explore(program, preemptions=1).verdict == "holds"
