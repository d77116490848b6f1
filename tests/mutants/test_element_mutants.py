"""Deliberately broken rules for elements that C code asks something."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, KeysView
from contextlib import nullcontext
from typing import Any

import pytest

import mazurka
from mazurka.runtime.python import elements, functions, managing
from mazurka.runtime.rewrite import library


def go_through(items: Iterable[Any], *_: Any) -> Iterator[Any]:
    """Elements that come one by one are not read."""
    yield from items


def leave(function: Any, site: int, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Nobody sees what `filter` asks."""
    return arguments


class Everything(frozenset[type]):
    """All keys count as numbers, which nobody can change."""

    def issuperset(self, _: Iterable[object]) -> bool:
        return True


def sees(ask: Callable[[list[int]], Any]) -> bool:
    def program() -> None:
        items, got = [1], []

        def take() -> None:
            if ask(items):
                items.clear()
                got.append(1)

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [1]

    return mazurka.explore(program, preemptions=1).verdict == "violated"


def view(items: list[int]) -> bool:
    shown: Any = items
    return len(KeysView(shown)) > 0


def enter(items: list[int]) -> bool:
    with nullcontext(items) as (*found,):
        return len(found) > 0


def keep(value: Any, site: int) -> Any:
    """What a `with` statement takes apart is not read."""
    return value


MUTANTS: dict[str, tuple[Any, str, Any, Callable[[list[int]], Any]]] = {
    "elements come unread": (
        *(elements, "_read_each", go_through),
        lambda items: any(each for each in (items,)),
    ),
    "nobody sees a filter": (
        *(functions, "show_questions", leave),
        lambda items: next(filter(None, [items]), None),
    ),
    "keys are compared unread": (
        *(elements, "SIMPLE", Everything()),
        lambda items: sorted([items, [0]], key=lambda each: each)[1] is items,
    ),
    "methods of abstract classes are not observed": (
        *(library, "PARTS", {**library.PARTS, "collections.abc": frozenset()}),
        view,
    ),
    "what is entered is taken apart unread": (managing, "UNPACKING", (keep,) * 3, enter),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_of_elements_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, function, broken, ask = MUTANTS[name]
    assert sees(ask)
    monkeypatch.setattr(owner, function, broken)
    assert not sees(ask)
