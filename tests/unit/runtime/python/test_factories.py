"""What containers and dataclasses call to make a value: C code there is seen, too."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import mazurka
from mazurka.runtime.story.result import Result

stack: list[int] = []
counter: Any = iter(())


@dataclasses.dataclass
class Row:
    number: int = dataclasses.field(default_factory=stack.pop)


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    name: str = "row"
    number: int = dataclasses.field(default_factory=stack.pop, kw_only=True)


table: collections.defaultdict[str, int] = collections.defaultdict(stack.pop)


def filled(factory: Callable[[], int]) -> int:
    own: collections.defaultdict[int, int] = collections.defaultdict(factory)
    return own[0]


def local_class() -> int:
    numbers = stack

    @dataclasses.dataclass
    class Local:
        number: int = dataclasses.field(default_factory=numbers.pop)

    return Local().number


WAYS: dict[str, Callable[[str], int]] = {
    "dataclass": lambda name: Row().number,
    "frozen dataclass": lambda name: Fixed().number,
    "dataclass of the run": lambda name: local_class(),
    "defaultdict": lambda name: table[name],
    "counter": lambda name: filled(counter.__next__),
    "partial": lambda name: filled(partial(next, counter)),
}


def explored(make: Callable[[str], int], first: str, second: str) -> Result:
    """Two threads take a number each; nothing else orders them."""

    def program() -> None:
        global counter
        stack[:] = [2, 1]
        table.clear()
        counter = itertools.count()
        found: dict[str, list[int]] = {"one": [], "two": []}

        def take(name: str) -> None:
            found[name].append(make(name))

        threads = [threading.Thread(target=take, args=(name,)) for name in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found[first] < found[second]

    return mazurka.explore(program, preemptions=2)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_the_order_matters(name: str, order: tuple[str, str]) -> None:
    result = explored(WAYS[name], *order)
    assert result.verdict == "violated", result.report()
    assert result.not_observed == ()


def both(factory: Callable[[], Any]) -> Result:
    """Two threads look the same key up."""

    def program() -> None:
        shared: collections.defaultdict[int, Any] = collections.defaultdict(factory())
        found: list[list[Any]] = [[], []]
        threads = [
            threading.Thread(target=lambda mine=mine: mine.append(shared[0])) for mine in found
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found[0][0] is found[1][0]

    return mazurka.explore(program, preemptions=2)


class Slow:
    made = 0

    def __init__(self) -> None:
        Slow.made += 1


class Maker:
    def __call__(self) -> list[int]:
        Slow.made += 1
        return []


@pytest.mark.parametrize(
    "factory", [lambda: list, lambda: itertools.count().__next__, lambda: partial(list, ())]
)
def test_one_access_with_c_code(factory: Callable[[], Any]) -> None:
    result = both(factory)
    assert result, result.report()


@pytest.mark.parametrize("factory", [lambda: Slow, lambda: Maker(), lambda: partial(Slow)])
def test_code_of_the_program_runs_in_between(factory: Callable[[], Any]) -> None:
    result = both(factory)
    assert result.verdict == "violated", result.report()
