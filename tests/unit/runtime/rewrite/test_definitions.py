"""Functions in decorators, and in the arguments of classes, are observed like all others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import mazurka


class Box:
    n = 0


box = Box()


def holding(action: Callable[[], None]) -> Callable[[Any], Any]:
    def hold(thing: Any) -> Any:
        thing.action = action
        return thing

    return hold


class Base:
    action: Any

    def __init_subclass__(cls, action: Callable[[], None]) -> None:
        cls.action = staticmethod(action)


@holding(lambda: setattr(box, "n", box.n + 1))
def decorated() -> None: ...


@holding(staticmethod(lambda: setattr(box, "n", box.n + 1)))
class Decorated: ...


class Derived(Base, action=lambda: setattr(box, "n", box.n + 1)): ...


def made_in_the_run() -> Callable[[], None]:
    @holding(lambda: setattr(box, "n", box.n + 1))
    def inner() -> None: ...

    found: Callable[[], None] = vars(inner)["action"]
    return found


WAYS: dict[str, Callable[[], Callable[[], None]]] = {
    "of a function": lambda: vars(decorated)["action"],
    "of a class": lambda: vars(Decorated)["action"].__func__,
    "keyword of a class": lambda: Derived.action,
    "of a function of the run": made_in_the_run,
}


@pytest.mark.parametrize("name", WAYS)
def test_a_lost_update(name: str) -> None:
    def program() -> None:
        box.n = 0
        action = WAYS[name]()
        threads = [threading.Thread(target=action) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert box.n == 2

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "violated", result.report()


@pytest.mark.parametrize("step", [lambda: setattr(box, "n", box.n + 1)])
def test_a_parameter_of_a_test(step: Callable[[], None]) -> None:
    def program() -> None:
        box.n = 0
        threads = [threading.Thread(target=step) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert box.n == 2

    assert mazurka.explore(program, preemptions=1).verdict == "violated"
