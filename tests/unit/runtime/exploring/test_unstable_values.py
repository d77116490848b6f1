"""What could differ between executions of one schedule: most does not, the rest is told, with its
likely source."""

from __future__ import annotations

import _random
import itertools
import os
import random
import secrets
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.runtime.exploring import guard

numbers = itertools.count(1)
places = map(int, range(1_000_000))
"""C code keeps where it stands, and nobody can set it back."""
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
        box.value = _random.Random().random()

    both(work)


def looks_at_the_processor() -> None:
    box = Box()

    def work() -> None:
        box.log.append(time.process_time_ns())

    both(work)


def counts_on() -> None:
    box = Box()

    def work() -> None:
        box.value = next(places)

    both(work)


@pytest.mark.parametrize(
    ("program", "place", "cause"),
    [
        (keeps_chance, "Box.value is 0.", "`box.value = _random.Random().random()`: random"),
        (looks_at_the_processor, "Box.log is [", ": the clock."),
        (counts_on, "Box.value is ", ": a counter that every execution moves on."),
    ],
)
def test_values_that_differ_are_a_note(program: Callable[[], None], place: str, cause: str) -> None:
    result = mazurka.explore(program, preemptions=1)
    lost = program is counts_on  # a counter that cannot be put back
    assert result.verdict == ("inconclusive" if lost else "holds"), result.report()
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


def draws_numbers() -> None:
    box = Box()

    def work() -> None:
        box.log.append((random.random(), random.randrange(1000), random.choice("abc")))
        box.log.append((random.Random().random(), random.SystemRandom().random(), os.urandom(4)))
        box.log.append((secrets.token_hex(), uuid.uuid4().hex, uuid.uuid1().hex))
        random.seed()
        box.value = random.random()

    both(work)
    drawn.append(repr(box.log))
    ids = {one[0] for one in box.log[2::3]} | {one[1] for one in box.log[2::3]}
    assert len(ids) == 4, "what threads draw is not the same"


def counts_from_the_start() -> None:
    box = Box()
    both(lambda: box.log.append(next(numbers)))
    for number in zip(numbers, "ab", strict=False):
        box.log.append(number)
    box.value = STEP()
    assert sorted(box.log[:2]) == [1, 2]


def has_identities() -> None:
    box = Box()

    def work() -> None:
        made = [Box(), object(), (1, box), work, box.log.append]
        box.log.append([id(one) for one in made])
        box.log.append([hash(one) for one in made[:4]])
        box.value = [type(one).__name__ for one in {*made}]

    both(work)


drawn: list[str] = []
STEP = numbers.__next__
ALIKE = [
    *(reads_clocks, asks_who_runs, fills_a_cache, shares_objects),
    *(draws_numbers, counts_from_the_start, has_identities),
]


@pytest.mark.parametrize("program", ALIKE)
def test_what_is_the_same_in_every_execution_gives_no_note(program: Callable[[], None]) -> None:
    cache.clear()
    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds", result.report()
    assert result.notes == ()


def fails_now_and_then() -> None:
    box = Box()

    def work() -> None:
        box.value = next(places)

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
    assert "`box.value = next(places)`" in text


def test_numbers_that_were_seeded_before_are_drawn_and_can_be_drawn_afterwards() -> None:
    random.seed(7)
    expected = random.random()
    random.seed(7)
    found: list[float] = []
    result = mazurka.explore(lambda: found.append(random.random()), preemptions=1)
    assert result.verdict == "holds"
    assert set(found) == {expected}
    assert random.random() == expected


def test_what_the_system_gives_is_its_own_after_an_exploration() -> None:
    mazurka.explore(draws_numbers, preemptions=0)
    assert os.urandom(8) != os.urandom(8)
    assert random.Random().random() != random.Random().random()
    assert next(numbers) == 1, "the exploration has not moved it"


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
