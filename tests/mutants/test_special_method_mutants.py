"""Mutants of special methods that programs call by name: each loses a failure."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.runtime.python import attributes, reflection, special_methods
from mazurka.runtime.python.calls import leave
from mazurka.runtime.python.deep import DeepReach
from mazurka.runtime.sharing.accesses import How


class Base:
    n = 0


class Child(Base):
    def add(self) -> None:
        Base.n = super().n + 1


def choose_itself(function: Any, *_: Any) -> Any:
    return function


def fill_list() -> bool:
    return _acts_once([], lambda rows: not rows, lambda rows: rows.__init__([1]))


def fill_error() -> bool:
    return _acts_once(ValueError(), lambda error: not error.args, lambda error: error.__init__("a"))


def compare_sizes() -> bool:
    return _acts_once([], lambda rows: rows.__sizeof__() < 100, lambda rows: rows.extend([1] * 99))


def count_by_super() -> bool:
    Base.n = 0
    _run_twice(Child().add)
    return Base.n == 2


def _acts_once(thing: Any, check: Callable[[Any], bool], act: Callable[[Any], Any]) -> bool:
    acts = []

    def work() -> None:
        if check(thing):
            acts.append(1)
            act(thing)

    _run_twice(work)
    return len(acts) == 1


def _run_twice(work: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def sees(program: Callable[[], bool]) -> bool:
    def check() -> None:
        assert program()

    return mazurka.explore(check, preemptions=1).verdict == "violated"


def reach_nothing(_: Any) -> DeepReach:
    return DeepReach(lambda thing: (), How.READ_ALL, apart=False, writes=False)


def get_both() -> bool:
    get = operator.itemgetter("x", "y")
    return _acts_once(
        {"x": 0, "y": 0}, lambda table: get(table) == (0, 0), lambda table: table.update(x=1)
    )


MUTANTS: dict[str, tuple[Any, str, Any, Callable[[], bool]]] = {
    "a container that is made anew stays the same": (
        *(special_methods, "initialize", leave),
        fill_list,
    ),
    "an exception that is made anew stays the same": (
        *(special_methods, "choose_of_error", choose_itself),
        fill_error,
    ),
    "what all objects have touches nothing": (
        *(special_methods, "_look", leave),
        compare_sizes,
    ),
    "super finds nothing that changes": (
        *(attributes, "_bases_behind", lambda thing: ()),
        count_by_super,
    ),
    "a getter of several elements reads none": (
        *(reflection, "_reach", reach_nothing),
        get_both,
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_of_special_methods_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, function, broken, program = MUTANTS[name]
    assert sees(program)
    monkeypatch.setattr(owner, function, broken)
    assert not sees(program)
