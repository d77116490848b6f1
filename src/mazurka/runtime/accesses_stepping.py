"""Iterators over containers that the program holds in its hands: `iter(items)`, `zip(a, b)`.

As long as one thread uses an iterator, each step reads an element.  One that threads share is
written by each step, and which element comes next depends on the moment: what is made in that place
of the source counts as shared from then on, for the whole exploration (`Learned.moving`).
"""

from __future__ import annotations

import operator
from _thread import get_ident
from collections.abc import Sequence
from functools import cache
from typing import Any

from mazurka.runtime.accesses_containers import Part, is_built_in, perform, perform_all
from mazurka.runtime.accesses_expressions import family, part_of, parts_of
from mazurka.runtime.accesses_loops import how_stepping, iterator_of
from mazurka.runtime.accesses_opaque import iterator_parts, part_of_opaque
from mazurka.runtime.accesses_operations import How
from mazurka.runtime.rewriting_sites import sites
from mazurka.runtime.scheduler import session
from mazurka.runtime.sharing import learned, now, progress


@cache
def place_of(site: int) -> str:
    """What is learned of a place; called the same in all processes."""
    return f"iterator at {sites[site]}:{sites[site].column}"


class Stepping:
    """An iterator that one thread uses."""

    __slots__ = ("_index", "_items", "_part", "_site", "_user")

    def __init__(self, part: Part, items: Any, forwards: bool, site: int) -> None:
        how = how_stepping(part, items) if forwards else part[2]
        self._part = (part[0], part[1], how)
        self._items = items
        self._index = 0
        self._site = site
        self._user: int | None = None

    def __iter__(self) -> Stepping:
        return self

    def __next__(self) -> Any:
        if session.current.ident == get_ident():
            self._learn()
        part = (*self._part, self._index)
        self._index += 1
        progress()
        return perform(part, self._site, next, self._items)

    def _learn(self) -> None:
        place = place_of(self._site)
        if self._user not in (None, now.thread) and place not in learned.moving:
            learned.moving.add(place)
            learned.news.append(place)
        self._user = now.thread

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)

    def __reduce__(self) -> Any:
        return self._items.__reduce__()


class SharedStepping:
    """An iterator that threads share; a step is one operation on it and its containers."""

    __slots__ = ("__weakref__", "_items", "_parts", "_site")

    def __init__(self, parts: Sequence[Part], items: Any, site: int) -> None:
        self._parts = parts
        self._items = items
        self._site = site

    def __iter__(self) -> SharedStepping:
        return self

    def __next__(self) -> Any:
        progress()
        parts = [part_of_opaque(self), *self._parts]
        return perform_all(parts, self._site, next, self._items)

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)

    def __reduce__(self) -> Any:
        return self._items.__reduce__()


def stepping(
    value: Any, site: int, items: Any = None, forwards: bool = True, own: bool = False
) -> Any:
    """An iterator over a value: the one that is given, if there is one.

    `own`: that one is the built-in one, whatever the class of the value has instead.
    """
    part = None if family(value) is None else part_of(value, How.READ_ALL)
    if part is None or not (own or is_built_in(type(value), "__iter__")):
        return value if items is None else items
    items = iterator_of(part, value, site) if items is None else items
    if place_of(site) in learned.moving:
        return SharedStepping([part], items, site)
    return Stepping(part, items, forwards, site)


def joined(function: Any, arguments: Sequence[Any], site: int) -> Any:
    """`zip` or `enumerate`, which take all that they need for a step at once."""
    if place_of(site) not in learned.moving:
        return function(*(stepping(argument, site) for argument in arguments))
    parts = [*parts_of(arguments), *iterator_parts(arguments)]
    return SharedStepping(parts, function(*arguments), site)
