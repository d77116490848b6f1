"""Sets: a program goes through them in the same order in every run."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import pytest

import mazurka
from mazurka.runtime.python.iteration.set_order import SetSteps, in_order, take_first


class Node:
    def __init__(self, number: int) -> None:
        self.number = number

    def act(self) -> None: ...


class Color(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


def by_loop(nodes: set[Node]) -> list[Node]:
    found = []
    for node in nodes:
        found += [node]
    return found


def by_unpacking(nodes: set[Node]) -> list[Node]:
    first, second, *rest = nodes
    return [first, second, *rest]


def by_binding_both(nodes: set[Node]) -> list[Node]:
    kept = _, _, *_ = nodes
    assert type(kept) is set
    return list(kept)


def by_taking(nodes: set[Node]) -> Iterator[Node]:
    while nodes:
        yield nodes.pop()


def by_extending(nodes: set[Node]) -> list[Node]:
    found: list[Node] = []
    found.extend(nodes)
    return found


def by_delegating(nodes: set[Node]) -> Iterator[Node]:
    yield from nodes


def by_next(nodes: set[Node]) -> Iterator[Node]:
    items = iter(nodes)
    while (node := next(items, None)) is not None:
        yield node


WAYS: list[Callable[[set[Node]], Iterable[Node]]] = [
    *(by_loop, by_unpacking, by_binding_both, by_taking, by_extending, by_delegating, by_next),
    *(list, tuple, deque, iter, frozenset, weakref.WeakSet),
    lambda nodes: [*nodes],
    lambda nodes: [node for node in nodes],  # noqa: C416 - this is the comprehension
    lambda nodes: (node for node in nodes),
    lambda nodes: filter(lambda node: True, nodes),
    lambda nodes: (node for _, node in enumerate(frozenset(nodes))),
    lambda nodes: sorted(nodes, key=lambda node: 0),
    lambda nodes: dict.fromkeys(nodes),
]


def test_objects_come_in_the_order_in_which_they_were_created() -> None:
    def program() -> None:
        for way in WAYS:
            nodes = [Node(number) for number in (0, 1, 2, 3, 4)]
            assert [node.number for node in way({*nodes[::-1]})] == [0, 1, 2, 3, 4]

    assert mazurka.explore(program, preemptions=0).verdict == "holds"


def test_a_test_may_do_something_for_each_object_of_a_set() -> None:
    """The locks are taken in the order of the set; by addresses it would be another each time."""

    def program() -> None:
        locks = [threading.Lock() for _ in range(6)]
        shuffled = {locks[number] for number in (3, 1, 4, 0, 5, 2)}

        def work() -> None:
            for lock in shuffled:
                with lock:
                    pass

        thread = threading.Thread(target=work)
        thread.start()
        work()
        thread.join()

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds", result.report()
    assert not result.notes


def functions() -> list[Any]:
    def first() -> None: ...

    def second() -> None: ...

    return [first, second]


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", "c", "d", "e"],
        [b"a", b"b", b"c"],
        [1, 2.5, "a", ("a", 1), ("a", "b"), ("b", "a")],
        [Color.BLUE, Color.GREEN, Color.RED],
        [Color, Node],
        functions(),
    ],
)
def test_no_order_depends_on_hashes(values: list[Any]) -> None:
    assert in_order(set(values)) == values
    assert in_order(frozenset(values[::-1])) == values


def test_what_is_no_set_stays_as_it_is() -> None:
    values = ["b", "a"]
    assert in_order(values) is values


def test_what_is_removed_is_not_shown_and_a_change_of_size_is_an_error() -> None:
    values = {"a", "b", "c"}
    steps = SetSteps(values)
    assert next(steps) == "a"
    values.remove("b")
    values.add("d")
    assert list(steps) == ["c"]
    assert list(steps) == []
    steps = SetSteps(values)
    values.add("e")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Set changed size during iteration"):
            next(steps)


class Hashed:
    """A class whose hash and equality are code of the program, which is not to be called."""

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise AssertionError


def test_no_code_of_the_program_is_called() -> None:
    one = Hashed()
    values = {one, "a"}
    assert list(SetSteps(values)) == ["a", one]
    assert take_first(values) == "a"
    assert take_first(values) is one
    with pytest.raises(KeyError):
        take_first(values)
