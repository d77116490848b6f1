"""What C code asks of elements: at once where all are at hand, and with the right results."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any

import pytest

import mazurka


def together(*bodies: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def move(found: list[bool], ask: Callable[[list[int], list[int]], bool]) -> None:
    """Something is in one list or the other at any time, and moves from the second to the first."""
    first: list[int] = []
    second = [1]

    def put() -> None:
        first.append(1)
        second.clear()

    together(put, lambda: found.append(ask(first, second)))


def test_elements_at_hand_are_asked_at_once() -> None:
    def program() -> None:
        found: list[bool] = []
        move(found, lambda first, second: any([first, second]))
        assert found == [True]

    assert mazurka.explore(program, preemptions=2).verdict == "holds"


def test_code_of_the_program_comes_in_between() -> None:
    def program() -> None:
        found: list[bool] = []
        move(found, lambda first, second: any(each for each in (first, second)))
        assert found == [True]

    assert mazurka.explore(program, preemptions=2).verdict == "violated"


class Table(MutableMapping[int, int]):
    """A mapping whose other methods are those of `collections.abc`."""

    def __init__(self, inside: dict[int, int] | None = None) -> None:
        self.inside = {} if inside is None else inside

    def __getitem__(self, key: int) -> int:
        return self.inside[key]

    def __setitem__(self, key: int, value: int) -> None:
        self.inside[key] = value

    def __delitem__(self, key: int) -> None:
        del self.inside[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self.inside)

    def __len__(self) -> int:
        return len(self.inside)


def taken(values: Iterable[int]) -> list[int]:
    found: list[int] = []
    found.extend(values)
    return found


def search(values: Iterator[list[int]]) -> tuple[bool, list[list[int]]]:
    """A search takes what it has looked at, and no more."""
    return [4] in values, list(values)


RESULTS: dict[str, Callable[[list[list[int]]], Any]] = {
    "any": lambda lists: any(each for each in lists),
    "sum": lambda lists: sum((each for each in lists), [0]),
    "sum of numbers": lambda lists: sum(each[0] * 0.1 for each in lists),
    "max": lambda lists: max((each for each in lists), key=lambda each: each[::-1]),
    "max of arguments": lambda lists: max(lists[0], lists[1], key=len),
    "nothing": lambda lists: min((each for each in lists[:0]), default=None),
    "sorted": lambda lists: sorted((each for each in lists), reverse=True),
    "sorted by a key": lambda lists: sorted(lists, key=tuple, reverse=True),
    "filter": lambda lists: list(filter(None, lists)),
    "groups": lambda lists: [key for key, _ in itertools.groupby(lists, key=len)],
    "groups of equals": lambda lists: [key for key, _ in itertools.groupby(lists)],
    "sums": lambda lists: list(itertools.accumulate(lists, initial=[0])),
    "maxima": lambda lists: list(itertools.accumulate(lists, func=max)),
    "arguments": lambda lists: list(itertools.starmap(max, [[1, 2], (3, 4)])),
    "mappings that a list takes": lambda lists: lists[0] + taken(Table({1: 2})),
    "one by one": lambda lists: search(each for each in (*lists, [4], [5])),
    "a dictionary": lambda lists: dict([[1, 2], [3, 4]], five=6),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_those_of_c_code(name: str) -> None:
    ask = RESULTS[name]
    expected = ask([[2], [], [1, 3]][::2])

    def program() -> None:
        lists = [[2], [1, 3]]
        found: list[Any] = []
        together(lambda: found.append(ask(lists)), lambda: found.append(ask(lists)))
        assert found == [expected, expected]

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def test_a_lock_for_each_key_is_made_at_once() -> None:
    def program() -> None:
        locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        found: list[Any] = []
        together(lambda: found.append(locks["a"]), lambda: found.append(locks["a"]))
        assert found[0] is found[1]

    assert mazurka.explore(program, preemptions=2).verdict == "holds"


def double(values: list[int]) -> None:
    values *= 2


def lengthen(values: list[int]) -> None:
    values += "ab"  # type: ignore[arg-type]


def set_anew(values: list[int]) -> None:
    values.__init__([1, 2, 3])  # type: ignore[misc]


def set_anew_from_generator(values: list[int]) -> None:
    values.__init__(each for each in (1, 2, 3))  # type: ignore[misc]


def fill_slice(values: list[int]) -> None:
    values.__setitem__(slice(0, 0), [1])


@pytest.mark.parametrize(
    "change", [double, lengthen, set_anew, set_anew_from_generator, fill_slice]
)
def test_a_change_is_seen(change: Callable[[list[int]], None]) -> None:
    expected = [1]
    change(expected)

    def program() -> None:
        values, sizes = [1], []

        def look() -> None:
            sizes.extend([len(values), len(values)])

        together(look, lambda: change(values))
        assert values == expected
        assert len(set(sizes)) == 1

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "violated"
    assert "len(set(sizes)) == 1" in result.report()


def test_methods_of_abstract_classes_read_what_they_are_given() -> None:
    def program() -> None:
        given = {1: 2}
        tables = [Table(), Table()]
        together(lambda: [table.update(given) for table in tables], lambda: given.update({1: 3}))
        assert tables[0][1] == tables[1][1]

    assert mazurka.explore(program, preemptions=1).verdict == "violated"
