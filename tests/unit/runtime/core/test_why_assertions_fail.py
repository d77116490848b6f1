"""Failed assertions say what they are about, with the values at the failure."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable

import pytest

import mazurka


class Box:
    def __init__(self) -> None:
        self.ok = False
        self.items = [1, 2]

    def good(self) -> bool:
        return False


def message(program: Callable[[], object]) -> str:
    result = mazurka.explore(program, preemptions=1)
    assert result.violation is not None
    return result.violation.message


def bare_name() -> None:
    ok = False
    assert ok


def negation() -> None:
    left = [1]
    assert not left


def conjunction() -> None:
    a, b = 1, 0
    assert a and b  # noqa: PT018


def call() -> None:
    number = 3
    assert number.__eq__(4)


def method() -> None:
    box = Box()
    assert box.good()


def instance() -> None:
    value = "a"
    assert isinstance(value, int)


def chain() -> None:
    number = 7
    assert 0 < number < 5


def quantified() -> None:
    box = Box()
    assert all(item > 1 for item in box.items)


def element() -> None:
    counts = {"a": 0}
    assert counts["a"]


def with_message() -> None:
    box = Box()
    assert box.ok, "must be ok"


def compared_with_message() -> None:
    box = Box()
    assert box.items == [1], "one only"


def several_lines() -> None:
    box = Box()
    assert (
        box.ok
        or box.items[1] == 3
    )  # fmt: skip


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (bare_name, "ok is False (assert ok)"),
        (negation, "left is [1] (assert not left)"),
        (conjunction, "a is 1, b is 0 (assert a and b)"),
        (call, "number is 3 (assert number.__eq__(4))"),
        (method, "not true (assert box.good())"),
        (instance, "value is 'a' (assert isinstance(value, int))"),
        (chain, "number is 7 (assert 0 < number < 5)"),
        (quantified, "box.items is [1, 2] (assert all(item > 1 for item in box.items))"),
        (element, "counts['a'] is 0 (assert counts[\"a\"])"),
        (with_message, "must be ok; box.ok is False (assert box.ok)"),
        (compared_with_message, "one only; box.items is [1, 2] (assert box.items == [1])"),
        (
            several_lines,
            "box.ok is False, box.items[1] is 2 (assert box.ok or box.items[1] == 3)",
        ),
    ],
)
def test_values_and_source(program: Callable[[], None], text: str) -> None:
    assert message(program) == f"AssertionError: {text}"


def test_long_values_are_shortened() -> None:
    def program() -> None:
        text = "x" * 500
        assert not text

    assert len(message(program)) < 120
    assert "..." in message(program)


def test_no_code_of_the_user_is_run() -> None:
    class Sly:
        def __bool__(self) -> bool:
            return False

        def __repr__(self) -> str:
            raise RuntimeError("asked for its text")

        @property
        def part(self) -> int:
            raise RuntimeError("asked for a part")

    def program() -> None:
        sly = Sly()
        assert sly

    assert message(program) == "AssertionError: not true (assert sly)"


def test_values_that_others_have_changed_meanwhile_are_not_shown() -> None:
    def program() -> None:
        box = Box()
        held = threading.Condition()

        def check() -> None:
            count = 0
            with held:
                assert box.ok and count  # noqa: PT018

        def change() -> None:
            with held:
                box.items.append(3)
                box.ok = True

        first = threading.Thread(target=check)
        second = threading.Thread(target=change)
        first.start()
        second.start()
        first.join()
        second.join()

    assert message(program) == "AssertionError: count is 0 (assert box.ok and count)"


class Cases(unittest.TestCase):
    @mazurka.explore(preemptions=0)
    def test_equal(self) -> None:
        self.assertEqual(1, 2)  # noqa: PT009

    @mazurka.explore(preemptions=0)
    def test_bare(self) -> None:
        self.box = Box()
        assert self.box.ok

    def tearDown(self) -> None:
        self.box = Box()
        self.box.ok = True


Cases.__test__ = False  # type: ignore[attr-defined]


def test_cases_are_asked_before_they_are_torn_down() -> None:
    with pytest.raises(mazurka.ExplorationFailure) as caught:
        Cases("test_bare").test_bare()
    violated = caught.value.result.violation
    assert violated is not None
    assert violated.message == "AssertionError: self.box.ok is False (assert self.box.ok)"


def test_methods_of_cases_show_the_line_of_the_test() -> None:
    with pytest.raises(mazurka.ExplorationFailure) as caught:
        Cases("test_equal").test_equal()
    violated = caught.value.result.violation
    assert violated is not None
    assert violated.message == "AssertionError: 1 != 2"
    assert str(violated.file).endswith("test_why_assertions_fail.py")


def fails() -> None:
    pytest.fail("no good")


def raises() -> None:
    with pytest.raises(ValueError, match="x"):
        pass


@pytest.mark.parametrize(
    ("program", "text"), [(fails, "Failed: no good"), (raises, "Failed: DID NOT RAISE ")]
)
def test_what_pytest_raises(program: Callable[[], None], text: str) -> None:
    result = mazurka.explore(program, preemptions=0)
    assert result.violation is not None
    assert result.violation.message.startswith(text)
    assert str(result.violation.file).endswith("test_why_assertions_fail.py")
