"""Objects in captured variables end when the program lets go of them, also in recorded runs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import mazurka


class Thing:
    """Something that can be referred to weakly."""


def end_by_method(log: list[str]) -> Any:
    class Ending:
        def __del__(self) -> None:
            log.append("end")

    return Ending()


def end_by_finalizer(log: list[str]) -> Any:
    thing = Thing()
    weakref.finalize(thing, log.append, "end")
    return thing


def drop_by_nonlocal(make: Callable[[list[str]], Any], log: list[str]) -> Callable[[], None]:
    thing = make(log)

    def drop() -> None:
        nonlocal thing
        thing = None

    return drop


def drop_by_deletion(make: Callable[[list[str]], Any], log: list[str]) -> Callable[[], None]:
    thing = make(log)

    def drop() -> None:
        nonlocal thing
        del thing

    return drop


@pytest.mark.parametrize("make", [end_by_method, end_by_finalizer])
@pytest.mark.parametrize("make_drop", [drop_by_nonlocal, drop_by_deletion])
def test_other_functions_drop(make: Any, make_drop: Any) -> None:
    def scenario() -> None:
        log: list[str] = []
        drop = make_drop(make, log)
        threads = [threading.Thread(target=one) for one in (drop, lambda: log.append("other"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log == ["end", "other"]

    require_order(mazurka.explore(scenario, preemptions=2))


@pytest.mark.parametrize("make", [end_by_method, end_by_finalizer])
def test_variables_of_the_test_itself(make: Any) -> None:
    def scenario() -> None:
        log: list[str] = []
        thing = make(log)

        def drop() -> None:
            nonlocal thing
            thing = None

        threads = [threading.Thread(target=one) for one in (drop, lambda: log.append("other"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log == ["end", "other"]

    require_order(mazurka.explore(scenario, preemptions=2))


def require_order(result: mazurka.Result) -> None:
    """Require that the failure was found, and told with the steps that lead to it."""
    assert result.error is None
    assert result.violation is not None
    assert "['other', 'end'] == ['end', 'other']" in result.violation.message
    assert result.token is not None
