"""C code that enters Python code in the middle of an operation."""

from __future__ import annotations

import array
import csv
import functools
import io
import itertools
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from operator import attrgetter
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from tests.unit.runtime.python import c_callbacks

import mazurka
from mazurka.runtime.core.insides import is_of_c
from mazurka.runtime.python import variables
from mazurka.runtime.python.attributes import is_computed_by_c
from mazurka.runtime.python.wrappers import _lookup, is_field, looks_up_in_c, memory_of


@pytest.mark.parametrize("program", c_callbacks.VIOLATED)
def test_other_threads_come_in_between(program: Callable[[], None]) -> None:
    assert mazurka.explore(program, preemptions=2).verdict == "violated"


@pytest.mark.parametrize("way", c_callbacks.ASKED)
def test_every_way_to_ask_an_object_of_c_code_is_seen(way: str) -> None:
    program = c_callbacks.asked(c_callbacks.ASKED[way])
    assert mazurka.explore(program, preemptions=1).verdict == "violated"


@pytest.mark.parametrize("way", c_callbacks.SEARCHES)
def test_a_deque_that_changes_while_it_is_searched_is_an_error(way: str) -> None:
    program = c_callbacks.searched(c_callbacks.SEARCHES[way])
    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "violated"
    assert "mutated" in result.report()


@pytest.mark.parametrize("program", c_callbacks.HOLDS)
def test_few_executions_where_nothing_is_shared(program: Callable[[], None]) -> None:
    result = mazurka.explore(program, preemptions=None)
    assert result.verdict == "holds"
    assert result.executions <= c_callbacks.HOLDS[program]


def test_what_a_descriptor_of_c_code_computes_can_be_computed_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed = {(c_callbacks.Lazy, "value")}
    is_computed = attrgetter("__contains__")(computed)
    monkeypatch.setattr(variables, "is_computed_by_c", lambda *of: is_computed(of))
    assert mazurka.explore(c_callbacks.lazy_value, preemptions=1).verdict == "violated"
    result = mazurka.explore(c_callbacks.lazy_values, preemptions=None)
    assert result.verdict == "holds"
    assert result.executions <= 2


def test_descriptors_of_c_code_are_known() -> None:
    class Point(NamedTuple):
        x: int

    class Thing:
        __slots__ = ("a",)
        cached = functools.lru_cache(len)
        named = property(len)
        computed = functools.cached_property(len)

    names = ("a", "cached", "named", "computed", "missing")
    assert not any(is_computed_by_c(Thing, name) for name in names)
    assert not is_computed_by_c(Point, "x")


def test_nothing_is_proved_where_a_profile_function_is_set() -> None:
    def program() -> None:
        sys.setprofile(lambda *_: None)
        try:
            c_callbacks.text_reader()
        finally:
            sys.setprofile(None)

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict != "holds"


def test_the_profile_function_is_as_before() -> None:
    mazurka.explore(c_callbacks.rows, preemptions=1)
    assert sys.getprofile() is None


def test_types_that_look_up_attributes_themselves_are_known() -> None:
    kinds: tuple[type, ...] = (type((lambda: kinds).__closure__[0]), io.StringIO, ModuleType)  # type: ignore[index]
    assert [looks_up_in_c(kind) for kind in kinds] == [False] * 3
    assert _lookup(ModuleType) != _lookup(object) == _lookup(kinds[0])


def test_fields_are_known() -> None:
    class Slots:
        __slots__ = ("line_num",)

    reader = type(c_callbacks.csv.reader(()))
    assert is_field(reader, "line_num")
    assert is_field(c_callbacks.Node, "text")
    assert is_field(io.StringIO, "closed")
    assert not is_field(Slots, "line_num")
    assert not is_field(reader, "__next__")
    assert not is_field(c_callbacks.Source, "pieces")
    assert not is_field(os.stat_result, "st_size")


def test_a_change_of_an_object_of_c_code_shows_in_its_memory() -> None:
    steps = itertools.count()
    before = memory_of(steps)
    assert before == memory_of(steps)
    next(steps)
    assert before != memory_of(steps)


def test_classes_of_c_code_are_known() -> None:
    class Plain:
        __slots__ = ("a",)
        __hash__ = object.__hash__

    assert all(map(is_of_c, (dict, type(iter([])), c_callbacks.ET.Element)))
    assert not any(map(is_of_c, (Plain, c_callbacks.Node, c_callbacks.Source)))
    heap: Any = type(sys.implementation)
    assert is_of_c(heap)


@pytest.mark.parametrize(
    "call",
    [
        lambda: re.Pattern.match(re.compile("a"), "a"),
        lambda: array.array.extend(array.array("i"), [1]),
        lambda: re.Pattern.sub(re.compile("a"), "b", "aa"),
    ],
)
def test_methods_that_want_their_class_are_called_through_it(call: Callable[[], Any]) -> None:
    def program() -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    assert mazurka.explore(program, preemptions=2).verdict == "holds"


class Once:
    def __await__(self) -> Iterator[int]:
        yield 1


async def twice() -> None:
    await Once()
    await Once()


def test_a_coroutine_is_left_before_another_thread_resumes_it() -> None:
    errors: set[str] = set()

    def program() -> None:
        shared: Any = twice()

        def step() -> None:
            try:
                shared.send(None)
            except ValueError as error:
                errors.add(str(error))

        threads = [threading.Thread(target=step) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shared.close()

    assert mazurka.explore(program, preemptions=2).verdict == "holds"
    assert errors == {"coroutine already executing"}


def lines() -> Iterator[str]:
    yield "a,1"
    yield "b,2"


READING: dict[str, Callable[[Any, list[Any]], object]] = {
    "next": lambda reader, found: found.append(next(reader)),
    "loop": lambda reader, found: [found.append(row) for row in reader],
    "list": lambda reader, found: found.extend(list(reader)),
    "unpacked": lambda reader, found: found.extend([*reader]),
    "extend": lambda reader, found: found.extend(reader),
    "sorted": lambda reader, found: found.extend(sorted(reader)),
}


@pytest.mark.parametrize("way", READING)
def test_a_csv_reader_that_another_thread_is_inside_of_is_an_error(way: str) -> None:
    """Before, the interpreter crashed: a second step takes away what the first one fills."""

    def program() -> None:
        reader, found = csv.reader(lines()), list[Any]()
        threads = [threading.Thread(target=READING[way], args=(reader, found)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "violated"
    assert "inside of this csv reader" in result.report(width=200)


def test_a_csv_reader_of_its_own_for_each_thread_holds() -> None:
    def program() -> None:
        found = list[Any]()
        threads = [
            threading.Thread(target=lambda: found.extend(csv.reader(lines()))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [["a", "1"], ["a", "1"], ["b", "2"], ["b", "2"]]

    assert mazurka.explore(program, preemptions=1).verdict == "holds"
