"""Iterators over containers that the program holds in its hands: `iter(items)`, `zip(a, b)`.

As long as one thread uses an iterator, each step reads an element.  One that threads share is
written by each step, and which element comes next depends on the moment: what is made in that place
of the source counts as shared from then on, for the whole exploration (`Learned.moving`).

So are iterators that C code makes of others (`lazily`).  One that threads share is changed at the
beginning of each step, and again after each piece of code that runs on the way: a callback, a step
through a generator (`accesses_turns`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from types import BuiltinFunctionType, GeneratorType, MethodDescriptorType
from typing import Any, Final

from mazurka.runtime.core.access_sites import sites
from mazurka.runtime.core.moment import now
from mazurka.runtime.python.callbacks import Stepped, Turns, note_user, runs_code, share
from mazurka.runtime.python.calls import FunctionHandle, performs
from mazurka.runtime.python.catalogue import CALLBACK_AT, LAZY, PLAIN, CallEffect, is_of_c
from mazurka.runtime.python.containers import Part, family, is_built_in, part_of, parts_of, perform
from mazurka.runtime.python.loops import how_stepping, iterator_of
from mazurka.runtime.python.opaque import is_iterator, part_of_opaque
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress
from mazurka.runtime.sharing.monitoring import unobserved


@cache
def place_of(site: int) -> str:
    """What is learned of a place; called the same in all processes."""
    return f"iterator at {sites[site]}:{sites[site].column}"


class OwnIterator:
    """An iterator that one thread uses."""

    __slots__ = ("_index", "_items", "_part", "_site", "_user")

    def __init__(self, part: Part, items: Any, forwards: bool, site: int) -> None:
        how = how_stepping(part, items) if forwards else part[2]
        self._part = (part[0], part[1], how)
        self._items = items
        self._index = 0
        self._site = site
        self._user: int | None = None

    def __iter__(self) -> OwnIterator:
        return self

    def __next__(self) -> Any:
        if self._user != now.thread:
            self._user = note_user(place_of(self._site), self._user)
        part = (*self._part, self._index)
        self._index += 1
        progress()
        return perform(part, self._site, next, self._items)

    def share(self) -> None:
        """Threads share an iterator that has this one."""
        share(place_of(self._site))

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)

    def __reduce__(self) -> Any:
        return self._items.__reduce__()


class SharedIterator:
    """An iterator that threads share; a step is one operation on it and its containers."""

    __slots__ = ("__weakref__", "_items", "_parts", "_turns")

    def __init__(
        self,
        parts: Sequence[Part],
        site: int,
        make: Callable[[Turns], Iterator[Any]],
        *,
        code: bool = False,
    ) -> None:
        """`code` says that other code may run on the way."""
        self._parts = None if code else parts
        self._turns = Turns(parts, site, self)
        self._items = make(self._turns)

    def inside(self) -> tuple[list[Part], Any] | None:
        """What another iterator touches that takes this one along in its steps, and what it goes
        through then; None where code runs in between."""
        if self._parts is None:
            return None
        return [part_of_opaque(self), *self._parts], self._items

    def __iter__(self) -> SharedIterator:
        return self

    def __next__(self) -> Any:
        progress()
        return self._turns.perform(next, self._items)

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)

    def __reduce__(self) -> Any:
        return self._items.__reduce__()


def iterator_over(
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
        return SharedIterator([part], site, lambda _: items)
    return OwnIterator(part, items, forwards, site)


# -- iterators that C code makes of others -------------------------------------------------------

_NAMED: Final = ("func", "key")


def lazily(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """A type whose objects go through the arguments, step by step."""
    place = place_of(site)
    given = list(arguments)
    at = CALLBACK_AT.get(function, len(given))
    called = [given.pop(at)] if at < len(given) else [named[n] for n in _NAMED if n in named]
    if function is itertools.accumulate and called in ([], [None]):
        called = [operator.add]
    if place not in learned.moving:
        code = function is itertools.accumulate or any(map(_is_code, called))
        code = code and function not in (map, itertools.starmap)
        sources = [own_source(value, site) for value in given]
        items = function(*sources[:at], *arguments[at : at + 1], *sources[at:], **named)
        is_whole = not code and all(map(operator.is_, sources, given))
        return items if is_whole else PassingIterator(items, place)
    if function is itertools.groupby:
        unobserved.note("an itertools.groupby that threads share")
        sources = [own_source(value, site) for value in given]
        return function(*sources, *called)
    parts = _taken_along(given)

    def make(turns: Turns) -> Iterator[Any]:
        sources = [_shared_source(value, site, turns) for value in given]
        if not called:
            return function(*sources, **named)  # type: ignore[no-any-return]
        others = {name: value for name, value in named.items() if name not in _NAMED}
        aside = _aside(called[0], turns)
        return function(*sources[:at], aside, *sources[at:], **others)  # type: ignore[no-any-return]

    return SharedIterator(parts, site, make, code=bool(called) or any(map(_shows_steps, given)))


def _taken_along(sources: list[Any]) -> list[Part]:
    """What is touched at once by a step through several things; some are replaced by what is in
    them."""
    parts = parts_of(sources)
    for number, value in enumerate(sources):
        if is_simple(value):
            parts.append(part_of_opaque(value))
        elif type(value) is OwnIterator:
            value.share()
        elif type(value) is SharedIterator and (inside := value.inside()) is not None:
            parts += inside[0]
            sources[number] = inside[1]
    return parts


def chain_lazily(function: Any, site: int, /, sources: Any) -> Any:
    """`itertools.chain.from_iterable`"""
    place = place_of(site)
    if place not in learned.moving:
        own = partial(own_source, site=site)
        return PassingIterator(function(map(own, own(sources))), place)

    def make(turns: Turns) -> Iterator[Any]:
        def shared(value: Any) -> Any:
            return _shared_source(iterator_over(value, site), site, turns)

        return function(map(shared, shared(sources)))  # type: ignore[no-any-return]

    return SharedIterator([], site, make, code=True)


def call_until(function: Any, site: int, callback: Any, sentinel: Any) -> Any:
    """`iter(callback, sentinel)`"""
    place = place_of(site)
    if place not in learned.moving:
        return PassingIterator(function(callback, sentinel), place)

    def make(turns: Turns) -> Iterator[Any]:
        return function(_aside(callback, turns), sentinel)  # type: ignore[no-any-return]

    return SharedIterator([], site, make, code=True)


class PassingIterator:
    """One that one thread uses."""

    __slots__ = ("_items", "_place", "_user")

    def __init__(self, items: Any, place: str) -> None:
        self._items = items
        self._place = place
        self._user: int | None = None

    def __iter__(self) -> PassingIterator:
        return self

    def __next__(self) -> Any:
        if self._user != now.thread:
            self._user = note_user(self._place, self._user)
        progress()
        return next(self._items)

    def __reduce__(self) -> Any:
        return self._items.__reduce__()


def own_source(value: Any, site: int) -> Any:
    """What an iterator goes through that one thread uses."""
    if family(value) is not None:
        return iterator_over(value, site)
    if is_iterator(value) or runs_code(value):
        return Stepped(value, site)
    return value


def _shared_source(value: Any, site: int, turns: Turns) -> Any:
    """What one goes through that threads share."""
    return Stepped(value, site, turns) if _shows_steps(value) else value


def _shows_steps(value: Any) -> bool:
    """Whether other code may run at a step through something."""
    if family(value) is not None or is_simple(value):
        return False
    return is_iterator(value) or runs_code(value)


def is_simple(value: Any) -> bool:
    """Whether it is an iterator of C code on whose way no other code runs."""
    return is_iterator(value) and type(value) is not GeneratorType and type(value) not in LAZY


def _is_code(function: Any) -> bool:
    """Whether code of the program may run when something is called."""
    kind = type(function)
    if function is None or kind in (FunctionHandle, BuiltinFunctionType, MethodDescriptorType):
        return False
    return not (issubclass(kind, type) and is_of_c(function))


def _aside(function: Any, turns: Turns) -> Any:
    """What C code calls on its way; where it is C code, too, and asks no objects, it goes on."""
    if function is None:
        return None
    if _is_code(function):
        return partial(turns.aside, function)

    def called(*arguments: Any) -> Any:
        if all(type(argument) in PLAIN for argument in arguments):
            return function(*arguments)
        return turns.aside(function, *arguments)

    return called


class TeeLink(list[Any]):
    """What has been taken and not been asked for by all: an element and the next one of these;
    empty where nobody has come to yet."""

    __slots__ = ()


class TeeSource:
    """What the iterators of one `tee` share."""

    __slots__ = ("__weakref__", "items", "running", "turns")

    def __init__(self, value: Any, site: int) -> None:
        parts = [part_of_opaque(value)] if is_simple(value) else parts_of((value,))
        self.turns = Turns(parts, site, self)
        self.running = False
        if not is_simple(value) and (is_iterator(value) or runs_code(value)):
            value = Stepped(value, site, self.turns)
        self.items: Iterator[Any] = iter(value)


class TeeIterator:
    """One of them."""

    __slots__ = ("__weakref__", "_kept", "_source")

    def __init__(self, source: TeeSource, kept: TeeLink) -> None:
        self._source = source
        self._kept = kept

    def __iter__(self) -> TeeIterator:
        return self

    def __copy__(self) -> TeeIterator:
        return TeeIterator(self._source, self._kept)

    def __next__(self) -> Any:
        progress()
        return self._source.turns.perform(self._step)

    def _step(self) -> Any:
        kept = self._kept
        if not kept:
            self._take(kept)
        element, self._kept = kept
        return element

    def _take(self, kept: TeeLink) -> None:
        source = self._source
        if source.running:
            raise RuntimeError("cannot re-enter the tee iterator")
        source.running = True
        try:
            element = next(source.items)
        finally:
            source.running = False
        kept += [element, TeeLink()]


@performs(CallEffect.TEES)
def tee(function: Any, site: int, /, iterable: Any, n: int = 2) -> Any:
    """`itertools.tee`"""
    kind = type(iterable)
    if type(n) is not int or n < 1:
        return function(iterable, n)
    if kind is TeeIterator:
        first = iterable
    elif hasattr(kind, "__copy__") and hasattr(kind, "__next__"):
        return function(iterable, n)  # it asks that for copies
    else:
        first = TeeIterator(TeeSource(iterable, site), TeeLink())
    return (first, *(first.__copy__() for _ in range(n - 1)))
