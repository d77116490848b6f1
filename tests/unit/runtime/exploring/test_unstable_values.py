"""Values that differ between executions of one schedule are told, and their source is named."""

from __future__ import annotations

import itertools
import random
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.runtime.exploring import guard

numbers = itertools.count()
cache: dict[str, int] = {}


class Own(threading.local):
    """Objects that prepare themselves for new threads do not change who a thread is."""


OWN = Own()


class Box:
    def __init__(self) -> None:
        self.value: Any = 0
        self.log: list[Any] = []


def both(work: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def keeps_chance() -> None:
    box = Box()

    def work() -> None:
        box.value = random.random()

    both(work)


def keeps_tokens() -> None:
    box = Box()

    def work() -> None:
        box.log.append(uuid.uuid4().hex)

    both(work)


def counts_on() -> None:
    box = Box()

    def work() -> None:
        box.value = next(numbers)

    both(work)


@pytest.mark.parametrize(
    ("program", "place", "cause"),
    [
        (keeps_chance, "Box.value is 0.", "`box.value = random.random()`: random numbers."),
        (keeps_tokens, "Box.log is [", "`box.log.append(uuid.uuid4().hex)`: random numbers."),
        (counts_on, "Box.value is ", ": a counter that every execution moves on."),
    ],
)
def test_values_that_differ_are_a_note(program: Callable[[], None], place: str, cause: str) -> None:
    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds", result.report()
    (note,) = result.notes
    assert place in note
    assert cause in note
    assert "test_unstable_values.py:" in note
    assert note in " ".join(result.report().split())
    assert result.to_json()["notes"] == [note]


def reads_clocks() -> None:
    box = Box()

    def work() -> None:
        box.value = time.time_ns()
        time.sleep(1)
        box.log.append(time.monotonic())

    both(work)


def asks_who_runs() -> None:
    box = Box()

    def work() -> None:
        box.value = threading.get_ident()
        box.log.append(threading.current_thread().name)

    both(work)


def fills_a_cache() -> None:
    if "x" not in cache:
        cache["x"] = 1
    both(lambda: cache["x"])


def shares_objects() -> None:
    box = Box()

    def work() -> None:
        box.value = Box()
        box.log.append(object())

    both(work)


@pytest.mark.parametrize("program", [reads_clocks, asks_who_runs, fills_a_cache, shares_objects])
def test_what_is_the_same_in_every_execution_gives_no_note(program: Callable[[], None]) -> None:
    cache.clear()
    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds", result.report()
    assert result.notes == ()


def fails_now_and_then() -> None:
    box = Box()

    def work() -> None:
        box.value = next(numbers)

    both(work)
    assert box.value % 4 == 1


def test_an_ending_that_differs_names_the_value_and_the_line() -> None:
    result = mazurka.explore(fails_now_and_then, preemptions=1)
    assert result.error is not None
    assert result.error.file is not None
    assert result.error.file.endswith("test_unstable_values.py")
    text = str(result.error)
    assert "it ends differently: " in text
    assert "What differs first: Box.value is " in text
    assert "`box.value = next(numbers)`" in text


def test_it_is_told_where_the_comparison_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST", 10)
    result = mazurka.explore(counts_alike, preemptions=1)
    assert result.verdict == "holds"
    assert [note.partition(" only,")[0] for note in result.notes] == [
        "whether values differ between executions of the same schedule was looked at until step 2"
    ]
    assert "10 values that threads share" in result.notes[0]


def counts_alike() -> None:
    box = Box()

    def work() -> None:
        for number in range(9):
            box.log.append(number)

    both(work)
