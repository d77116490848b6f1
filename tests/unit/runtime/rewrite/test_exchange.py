"""Whatever outlives an exploration has its own code and methods again; nothing is kept alive."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from weakref import ref

import pytest
from tests.unit.runtime.observed_programs import module_of, observed
from tests.unit.runtime.runtime_deciders import Follow

import mazurka
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.rewrite.exchange import Exchange
from mazurka.runtime.rewrite.observed_code import ObservedCode


def one() -> int:
    return 1


def two() -> int:
    return 2


class Colour:
    """A class whose methods are replaced."""

    def name(self) -> str:
        return "red"


class Hostile(type):
    """Classes of this class must not be compared or hashed."""

    def __hash__(cls) -> int:
        raise AssertionError

    def __eq__(cls, other: object) -> bool:
        raise AssertionError

    def __setattr__(cls, name: str, value: object) -> None:
        raise AssertionError


def test_functions_have_their_first_code_again() -> None:
    code, exchange = one.__code__, Exchange()
    exchange.replace_code(one, two.__code__)
    exchange.replace_code(one, (lambda: 3).__code__)
    assert one() == 3
    exchange.restore()
    assert one.__code__ is code


@types.coroutine
def wait_once() -> Iterator[None]:
    yield


async def work() -> int:
    await wait_once()
    return 1


def test_what_is_marked_as_a_coroutine_can_be_awaited() -> None:
    def program() -> None:
        running = work()
        running.send(None)
        with pytest.raises(StopIteration):
            running.send(None)

    assert mazurka.explore(program, preemptions=0).verdict == "holds"


def test_classes_have_their_first_methods_again() -> None:
    class Made(metaclass=Hostile):
        def method(self) -> int:
            return 1

    name, method = vars(Colour)["name"], vars(Made)["method"]
    exchange = Exchange()
    for number in (2, 3):
        exchange.replace_method(Colour, "name", lambda self, number=number: number)
        exchange.replace_method(Made, "method", lambda self, number=number: number)
    assert (Colour().name(), Made().method()) == (3, 3)
    exchange.replace_method(list, "append", name)  # a class of C stays as it is
    exchange.restore()
    assert vars(Colour)["name"] is name
    assert vars(Made)["method"] is method


def test_modules_lose_the_events() -> None:
    module, exchange = ModuleType("some_module"), Exchange()
    before = dict(vars(module))
    exchange.mark(module)
    assert MARK in vars(module)
    exchange.restore()
    assert vars(module) == before


def test_what_a_run_has_made_is_not_kept_alive() -> None:
    def made() -> int:
        return 1

    class Made:
        def method(self) -> int:
            return 1

    function, kind, exchange = ref(made), ref(Made), Exchange()
    exchange.replace_code(made, two.__code__)
    exchange.replace_method(Made, "method", two)
    del made, Made
    gc.collect()
    assert function() is kind() is None
    exchange.restore()


def test_functions_that_die_while_others_are_restored() -> None:
    """Garbage may be collected at any allocation, also in the middle of `restore`."""
    exchange, functions = Exchange(), [FunctionType(one.__code__, {}) for _ in range(200)]
    for function in functions:
        function.itself = function  # type: ignore[attr-defined]  # only a collection ends it
        exchange.replace_code(function, two.__code__)
    kept = functions[::2]
    before = gc.get_threshold()
    gc.disable()
    hoard = [(number, number) for number in range(5000)]  # so that pairs have to be allocated
    gc.collect(0)
    del functions, function
    gc.set_threshold(50, 0, 100)  # the fiftieth allocation from now on collects
    gc.enable()
    try:
        exchange.restore()
    finally:
        gc.set_threshold(*before)
    assert {function() for function in kept} == {1}
    assert len(hoard) == 5000


def test_a_class_that_a_run_has_made_outlives_the_exploration(tmp_path: Path) -> None:
    source = """
import dataclasses
def program():
    @dataclasses.dataclass(order=True)
    class Point:
        x: int
    return Point, repr(Point(1)), Point(1) < Point(2)
"""
    module = module_of(tmp_path, source)
    outcomes = []
    with observed(module, lambda: outcomes.append(module.program())) as program:
        program.supervise(lambda: program.run(Follow()))
    kind, shown, less = outcomes[-1]
    assert (shown, less) == ("program.<locals>.Point(x=1)", True)
    assert MARK not in vars(module)
    assert repr(kind(3)) == "program.<locals>.Point(x=3)"
    assert kind(1) == kind(1) < kind(2)


def test_code_is_restored_if_it_cannot_all_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = module_of(tmp_path, "def f(o):\n    return o.x\n")
    code = module.f.__code__

    def fail(self: ObservedCode, function: FunctionType, source: object) -> None:
        self._exchange.replace_code(function, two.__code__)
        raise KeyboardInterrupt

    monkeypatch.setattr(ObservedCode, "_observe_function", fail)
    with (
        pytest.raises(KeyboardInterrupt),
        ObservedCode(lambda name, file: name == module.__name__),
    ):
        pass
    assert module.f.__code__ is code
    assert MARK not in vars(module)
