"""Threads that go through the same iterator: whoever does so for them, each step is seen."""

from __future__ import annotations

import collections
import itertools
import threading
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any

import pytest
from tests.unit.runtime.python.iteration.shared_iterators import WAYS, Held, counted, explored, run

import mazurka

EXECUTING = "generator already executing"


@pytest.mark.parametrize("name", WAYS)
def test_a_generator_is_entered_twice(name: str) -> None:
    result = explored(WAYS[name], counted)
    assert result.verdict == "violated", result.report()
    assert EXECUTING in result.report()


@pytest.mark.parametrize("name", ["[*it]", "x in it", "list(it)", "yield from", "for", "islice"])
def test_a_class_may_give_out_a_shared_generator(name: str) -> None:
    result = explored(WAYS[name], lambda: Held(counted()))
    assert EXECUTING in result.report()


@pytest.mark.parametrize("name", WAYS)
def test_a_generator_of_ones_own_is_none_of_the_others_business(name: str) -> None:
    way = WAYS[name]
    result = mazurka.explore(
        lambda: run(lambda: way(counted()), lambda: way(counted())), preemptions=1
    )
    assert result.verdict == "holds", result.report()


def test_a_generator_of_ones_own_costs_no_executions() -> None:
    def by_hand(total: list[int]) -> None:
        for number in (1, 2):
            total.append(number)

    def at_once(total: list[int]) -> None:
        total.extend(number for number in (1, 2))

    def named(total: list[int]) -> None:
        items = (number for number in (1, 2))
        total.extend(items)

    def program(way: Callable[[list[int]], None]) -> None:
        total: list[int] = []
        run(lambda: way(total), lambda: way(total))

    ways = (by_hand, at_once, named)
    results = [mazurka.explore(partial(program, way), preemptions=2) for way in ways]
    assert len({result.executions for result in results}) == 1


@pytest.mark.parametrize("name", ["[*it]", "[*a] = it", "x in it", "list +=", "islice", "for"])
@pytest.mark.parametrize("first", [True, False])
def test_an_iterator_of_c_code_is_moved(name: str, first: bool) -> None:
    """Who comes first matters, though no other code runs on the way."""

    def program() -> None:
        items = iter(range(4))
        taken: list[Any] = []
        run(lambda: WAYS[name](items), lambda: taken.append(next(items, None)))
        assert (taken == [0]) is first

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


@pytest.mark.parametrize("target", [list, tuple, set, [].extend, {0}.isdisjoint, sum, max])
def test_threads_call_it_themselves(target: Any) -> None:
    def program() -> None:
        items = counted()
        threads = [threading.Thread(target=target, args=(items,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


def test_a_set_is_asked_after_each_step() -> None:
    """What comes into it while the generator runs is found."""

    def program() -> None:
        seen = {9}
        found: list[bool] = []
        run(lambda: found.append(seen.isdisjoint(x for x in (1, 2))), lambda: seen.add(2))
        assert found == [True]

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


def test_what_yield_from_hands_on() -> None:
    def inner() -> Generator[int, int, int]:
        got = yield 1
        again = yield got + 1
        return got + again

    def outer(items: Any) -> Any:
        yield ("done", (yield from items))

    def work() -> None:
        items = inner()
        way = outer(items)
        assert (next(way), way.send(5), way.send(7)) == (1, 6, ("done", 12))
        items = inner()
        way = outer(items)
        next(way)
        with pytest.raises(KeyError):
            way.throw(KeyError("x"))
        items = inner()
        way = outer(items)
        next(way)
        way.close()
        assert list(items) == []

    assert mazurka.explore(lambda: run(work, work), preemptions=1).verdict == "holds"


class Node:
    def __init__(self, below: Node | None) -> None:
        self.below = below

    def __iter__(self) -> Iterator[int]:
        if self.below is not None:
            yield from self.below
        yield 1


def test_generators_inside_of_each_other_stay_as_deep_as_they_are() -> None:
    def program() -> None:
        top = Node(None)
        for _ in range(400):
            top = Node(top)
        run(lambda: list(top), lambda: None)

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


# -- iterators that C code makes of others -------------------------------------------------------


def test_a_step_of_accumulate_is_lost() -> None:
    def program(*callback: Any) -> None:
        sums = itertools.accumulate([1, 1, 1], *callback)
        next(sums)
        found: list[int] = []
        run(lambda: found.append(next(sums)), lambda: found.append(next(sums)))
        assert sorted(found) == [2, 3]

    assert mazurka.explore(lambda: program(lambda a, b: a + b), preemptions=1).verdict == "violated"
    assert mazurka.explore(program, preemptions=1).verdict == "holds"


@pytest.mark.parametrize(
    "make",
    [
        lambda items: itertools.islice(items, 1),
        lambda items: itertools.islice(iter(items), 1),
        lambda items: itertools.takewhile(lambda x: x < 1, items),
    ],
)
def test_an_iterator_that_ends(make: Callable[[Any], Any]) -> None:
    """Over a list there is nothing to come in between."""

    def program(source: Callable[[], Any]) -> None:
        items = make(source())
        found: list[Any] = []
        run(lambda: found.append(next(items, 9)), lambda: found.append(next(items, 9)))
        assert sorted(found) == [0, 9]

    assert mazurka.explore(lambda: program(lambda: [0, 1, 2]), preemptions=1).verdict == "holds"
    result = mazurka.explore(lambda: program(counted), preemptions=1)
    assert EXECUTING in result.report()


def test_a_callable_is_asked_once_too_often() -> None:
    def program() -> None:
        asked: list[int] = []

        def ask() -> int:
            asked.append(0)
            return 0

        items = iter(ask, 0)
        run(lambda: next(items, None), lambda: next(items, None))
        assert len(asked) == 1

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


def test_a_source_is_moved_by_others() -> None:
    def program() -> None:
        numbers = itertools.count()
        found: dict[str, Any] = {}

        def number(name: str) -> None:
            found[name] = dict(zip(name, numbers, strict=False))

        run(lambda: number("a"), lambda: number("b"))
        assert found["a"] == {"a": 0}

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


def test_groups_that_threads_share_are_named() -> None:
    def program() -> None:
        groups = itertools.groupby([1, 2, 3], lambda x: x)
        run(lambda: next(groups), lambda: next(groups))

    result = mazurka.explore(program, preemptions=1)
    assert result.not_observed == ("an itertools.groupby that threads share",)


# -- tee -----------------------------------------------------------------------------------------


def test_halves_of_a_tee() -> None:
    def program(source: Any) -> None:
        one, other = itertools.tee(source)
        found: list[list[int]] = []
        run(lambda: found.append(list(one)), lambda: found.append([*other]))
        assert found == [[0, 1], [0, 1]]

    result = mazurka.explore(lambda: program(counted(2)), preemptions=1)
    assert "cannot re-enter the tee iterator" in result.report()
    for simple in ([0, 1], range(2), (0, 1)):
        assert mazurka.explore(partial(program, simple), preemptions=1).verdict == "holds"


class Shown:
    def __init__(self, number: int) -> None:
        self.number = number

    def __bool__(self) -> bool:
        return True


IN_C: dict[str, Callable[[], Any]] = {
    "map": lambda: map(str, [1, 2]),
    "zip": lambda: zip([1, 2], {1: 2, 3: 4}, strict=True),
    "filter": lambda: filter(None, [1, 2]),
    "another tee": lambda: enumerate(itertools.tee([1, 2])[0]),
    "several": lambda: map(int, map(str, itertools.chain([1], {2}))),
    "accumulate": lambda: itertools.accumulate([1, 2]),
    "backwards": lambda: reversed([1, 2]),
}
IN_PYTHON: dict[str, Callable[[], Any]] = {
    "generator": lambda: zip((one for one in [1, 2]), [1, 2], strict=True),
    "function": lambda: filter(lambda one: one, [1, 2]),
    "class": lambda: map(Shown, [1, 2]),
    "truth of elements": lambda: filter(None, [Shown(1), Shown(2)]),
    "sum of elements": lambda: itertools.accumulate(["a", "b"], lambda left, right: left + right),
}


def take_first(make: Callable[[], Any]) -> mazurka.ExploreResult:
    def program() -> None:
        one, other = itertools.tee(make())
        run(lambda: next(one), lambda: next(other))

    return mazurka.explore(program, preemptions=1)


@pytest.mark.parametrize("source", IN_C)
def test_a_tee_of_c_code_is_never_entered_twice(source: str) -> None:
    assert take_first(IN_C[source]).verdict == "holds"


@pytest.mark.parametrize("source", IN_PYTHON)
def test_a_tee_of_python_code_can_be_entered_twice(source: str) -> None:
    assert "cannot re-enter the tee iterator" in take_first(IN_PYTHON[source]).report()


def test_a_tee_behind_a_lock() -> None:
    def program() -> None:
        lock = threading.Lock()
        halves = itertools.tee(counted(2), 3)
        found: collections.deque[Any] = collections.deque()

        def work(half: Any) -> None:
            for number in range(2):
                with lock:
                    found.append(next(half) == number)

        run(*(partial(work, half) for half in halves[:2]))
        more, again = itertools.tee(halves[2])
        assert all(found)
        assert list(more) == list(again) == [0, 1]

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def test_a_tee_of_the_wrong_size() -> None:
    def work() -> None:
        assert itertools.tee([1], 0) == ()
        with pytest.raises(ValueError, match=r"^n "):
            itertools.tee([1], -1)
        with pytest.raises(TypeError):
            itertools.tee(5)  # type: ignore[arg-type]

    assert mazurka.explore(lambda: run(work, work), preemptions=1).verdict == "holds"
