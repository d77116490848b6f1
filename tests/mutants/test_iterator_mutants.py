"""Deliberately broken rules for iterators that threads share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.runtime.python import callbacks
from mazurka.runtime.python.callbacks import Turns
from mazurka.runtime.python.iteration import iterators
from mazurka.runtime.python.iteration.iterators import TeeIterator
from tests.unit.runtime.python.iteration.shared_iterators import WAYS, counted, explored, run


def no_iterator(value: Any) -> bool:
    """What C code goes through shows no steps."""
    return False


def nobody(place: str, before: int | None) -> int | None:
    """It is never seen that another thread has used an iterator."""
    return None


def nothing_again(self: Turns, action: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What C code does after a piece of other code belongs to no operation."""
    self._end()
    return action(*arguments, **named)


def no_turns(self: Turns, *more: Any) -> None:
    """What C code touches besides what it goes through is not shown."""


def always_enter(self: TeeIterator, kept: Any) -> None:
    """A tee does not remember that somebody is taking an element."""
    kept += [next(self._source.items), type(kept)()]


def sees_starred() -> bool:
    return explored(WAYS["[*it]"], counted).verdict == "violated"


def sees_delegated() -> bool:
    return explored(WAYS["yield from"], counted).verdict == "violated"


def sees_lost_step() -> bool:
    def program() -> None:
        sums = itertools.accumulate(range(3), lambda a, b: a + b)
        found: list[int] = []
        run(lambda: found.extend(sums), lambda: found.extend(sums))
        assert sorted(found) == [0, 1, 3]

    return mazurka.explore(program, preemptions=1).verdict == "violated"


def sees_set_change() -> bool:
    def program() -> None:
        seen = {9}
        found: list[bool] = []
        run(lambda: found.append(seen.isdisjoint(x for x in (1, 2))), lambda: seen.add(2))
        assert found == [True]

    return mazurka.explore(program, preemptions=1).verdict == "violated"


def sees_tee() -> bool:
    def program() -> None:
        one, other = itertools.tee(counted())
        run(lambda: next(one), lambda: next(other))

    result = mazurka.explore(program, preemptions=1)
    return "cannot re-enter the tee iterator" in result.report()


MUTANTS: dict[str, tuple[Any, str, Any, Callable[[], bool]]] = {
    "a step that nobody sees": (callbacks, "is_iterator", no_iterator, sees_starred),
    "a delegated step that nobody sees": (
        *(callbacks, "is_iterator", no_iterator),
        sees_delegated,
    ),
    "anybody may use it": (iterators, "note_user", nobody, sees_lost_step),
    "nothing after other code": (Turns, "aside", nothing_again, sees_lost_step),
    "no turns": (Turns, "_begin", no_turns, sees_set_change),
    "a tee that is never busy": (TeeIterator, "_take", always_enter, sees_tee),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_of_iterators_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, function, broken, sees = MUTANTS[name]
    assert sees()
    monkeypatch.setattr(owner, function, broken)
    assert not sees()
