"""Whoever reads the variables of a frame keeps no object of the program alive by that."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from mazurka.runtime.core.frame_variables import KEEPS_COPY, read_variables, reported


class Thing:
    """Something that can be referred to weakly."""


def test_values_are_told_and_not_kept() -> None:
    captured, local = Thing(), Thing()
    ends = [weakref.ref(captured), weakref.ref(local)]

    def use() -> object:
        return captured

    found = read_variables(sys._getframe())
    assert found["captured"] is captured is use()
    assert found["local"] is local
    found.clear()
    captured = local = None  # type: ignore[assignment]
    assert [end() for end in ends] == [None, None]


def test_variables_of_an_inner_function_are_told_and_not_kept() -> None:
    captured = Thing()
    end = weakref.ref(captured)

    def drop() -> bool:
        nonlocal captured
        assert read_variables(sys._getframe())["captured"] is captured
        captured = None  # type: ignore[assignment]
        return end() is None

    assert drop()


def test_what_the_program_holds_itself_stays() -> None:
    number = 1
    own = locals()
    assert read_variables(sys._getframe())["number"] == number
    assert own["number"] == 1


@pytest.mark.skipif(not KEEPS_COPY, reason="a frame keeps nothing")
def test_names_that_the_program_adds_stay() -> None:
    number = 1
    locals()["added"] = 2
    assert read_variables(sys._getframe())["number"] == number
    assert locals()["added"] == 2


def test_namespaces_of_classes_stay() -> None:
    class Holder:
        number = 1
        found = read_variables(sys._getframe())
        again = number + 1

    assert Holder.found["number"] == Holder.number == 1
    assert Holder.again == 2


def test_a_trace_function_changes_no_variables() -> None:
    told: list[Any] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code is traced.__code__ and event == "line":
            told.append(read_variables(frame))
        return trace

    def traced() -> int:
        number = 1
        other = number + 1
        return number + other

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = traced()
    finally:
        sys.settrace(before)
    assert found == 3
    assert told[-1] == {"number": 1, "other": 2}


def count_up() -> Iterator[int]:
    """A generator that needs its variables after each `yield`."""
    count = 0
    while count < 2:
        count += 1
        yield count


def run_profiled(look: Callable[[FrameType], object]) -> list[int]:
    """Let C code go through the generator; `look` is called whenever that returns to C code."""

    def profile(frame: FrameType, event: str, value: object) -> None:
        if frame.f_code is count_up.__code__ and event == "return":
            look(frame)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        return list(count_up())
    finally:
        sys.setprofile(before)


def test_a_profile_function_changes_no_variables() -> None:
    assert run_profiled(read_variables) == [1, 2]


def test_a_thread_beside_a_profile_function_changes_no_variables() -> None:
    def look(frame: FrameType) -> None:
        reported.add(frame)
        other = threading.Thread(target=read_variables, args=(frame,))
        other.start()
        other.join()
        reported.discard(frame)

    assert run_profiled(look) == [1, 2]
