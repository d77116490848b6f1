"""`itertools.tee`: iterators that go through one source together, and keep what others still need.

In CPython the one that comes first takes the next element from the source, and the others find it
kept.  Whoever needs one more while somebody is taking one gets a `RuntimeError`.  So a step is one
operation on all that belongs to a `tee`, and another one after the source has run code of the
program (`accesses_turns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mazurka.runtime.python.expressions import parts_of
from mazurka.runtime.python.opaque import is_iterator, part_of_opaque
from mazurka.runtime.python.stepping import is_simple
from mazurka.runtime.python.turns import Stepped, Turns, runs_code
from mazurka.runtime.sharing.locations import progress


class Kept(list[Any]):
    """What has been taken and not been asked for by all: an element and the next one of these;
    empty where nobody has come to yet."""

    __slots__ = ()


class Source:
    """What the iterators of one `tee` share."""

    __slots__ = ("__weakref__", "items", "running", "turns")

    def __init__(self, value: Any, site: int) -> None:
        parts = [part_of_opaque(value)] if is_simple(value) else parts_of((value,))
        self.turns = Turns(parts, site, self)
        self.running = False
        if not is_simple(value) and (is_iterator(value) or runs_code(value)):
            value = Stepped(value, site, self.turns)
        self.items: Iterator[Any] = iter(value)


class Half:
    """One of them."""

    __slots__ = ("__weakref__", "_kept", "_source")

    def __init__(self, source: Source, kept: Kept) -> None:
        self._source = source
        self._kept = kept

    def __iter__(self) -> Half:
        return self

    def __copy__(self) -> Half:
        return Half(self._source, self._kept)

    def __next__(self) -> Any:
        progress()
        return self._source.turns.perform(self._step)

    def _step(self) -> Any:
        kept = self._kept
        if not kept:
            self._take(kept)
        element, self._kept = kept
        return element

    def _take(self, kept: Kept) -> None:
        source = self._source
        if source.running:
            raise RuntimeError("cannot re-enter the tee iterator")
        source.running = True
        try:
            element = next(source.items)
        finally:
            source.running = False
        kept += [element, Kept()]


def teeing(function: Any, site: int, /, iterable: Any, n: int = 2) -> Any:
    """`itertools.tee`"""
    kind = type(iterable)
    if type(n) is not int or n < 1:
        return function(iterable, n)
    if kind is Half:
        first = iterable
    elif hasattr(kind, "__copy__") and hasattr(kind, "__next__"):
        return function(iterable, n)  # it asks that for copies
    else:
        first = Half(Source(iterable, site), Kept())
    return (first, *(first.__copy__() for _ in range(n - 1)))
