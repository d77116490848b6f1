"""Methods that call what C code does by `super().__call__`."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import mazurka


class Counter:
    n = 0

    def count(self) -> None:
        self.n += 1


class Loud(functools.partial[Any]):
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return super().__call__(*arguments, **named)


def by_weak_method(counter: Counter) -> Callable[[], Any]:
    weak = weakref.WeakMethod(counter.count)

    def call() -> None:
        found = weak()
        assert found is not None
        found()

    return call


def by_partial(counter: Counter) -> Callable[[], Any]:
    return Loud(counter.count)


@pytest.mark.parametrize("make", [by_weak_method, by_partial])
def test_it_is_called_once_and_observed(make: Callable[[Counter], Callable[[], Any]]) -> None:
    def program(together: bool) -> None:
        counter = Counter()
        call = make(counter)
        thread = threading.Thread(target=call)
        if not together:
            call()
        thread.start()
        if together:
            call()
        thread.join()
        assert counter.n == 2

    assert mazurka.explore(lambda: program(together=False), preemptions=2).verdict == "holds"
    lost = mazurka.explore(lambda: program(together=True), preemptions=2)
    assert lost.violation is not None
    assert lost.violation.kind == "assert"
