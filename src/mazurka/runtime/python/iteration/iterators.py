"""Iterators that the program holds as values: `iter(items)`, `zip(a, b)`, `itertools.tee(items)`.

As long as one thread uses an iterator, each step reads an element of its container.  A step of an
iterator that threads share writes the iterator, and which element comes next depends on the moment.
Once a run shows that an iterator is shared, all iterators that are made in that place of the source
count as shared, for the whole exploration (`Learned.moving`).

The same holds for iterators that C code makes of others, such as `map(f, items)`.  One that threads
share is changed at the beginning of each step, and again after each piece of Python code that runs
during the step: a callback, a step through a generator (`callbacks`).

The iterators of one `tee` go through a source together, and keep what others still need.  In
CPython the one that comes first takes the next element from the source, and the others find it
kept.  An iterator that needs one more while another is taking one raises a `RuntimeError`; that can
only happen where the source runs code of the program.  So a step is one operation on all that
belongs to a `tee`, and another one after each part of a step of the source.  Where these parts are
all C code, no other thread runs in between, and an iterator that needs one more waits.
"""

from __future__ import annotations

import itertools
import operator
import sys
from _thread import get_ident
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from gc import get_referents
from operator import attrgetter
from types import (
    BuiltinFunctionType,
    CellType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
)
from typing import Any, Final, Self

from mazurka.runtime.core.frame_variables import read_variables
from mazurka.runtime.core.insides import has_in_class, is_of_c, module_of
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.sites import sites
from mazurka.runtime.python.callbacks import (
    Stepped,
    Turns,
    advance,
    itself,
    note_user,
    runs_code,
    share,
)
from mazurka.runtime.python.calls import FunctionHandle, performers, performs
from mazurka.runtime.python.catalogue import (
    CALLBACK_AT,
    LAZY,
    NUMBERED,
    PLAIN,
    SIMPLE,
    CallEffect,
)
from mazurka.runtime.python.containers import Part, family, is_built_in, part_of, parts_of, perform
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.iteration.loops import effect_of_step, iterator_of
from mazurka.runtime.python.iteration.set_order import in_order, is_set, steps_of
from mazurka.runtime.python.library.counters import is_older_counter
from mazurka.runtime.python.opaque import (
    go_through,
    is_gone_through_by_c,
    is_iterator,
    part_of_opaque,
    parts_of_opaque,
)
from mazurka.runtime.python.waiting import wait_for_change
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress
from mazurka.runtime.sharing.monitoring import MACHINERY, unobserved


@cache
def place_of(site: int) -> str:
    """Name a place where iterators are made; the name is the same in all processes."""
    return f"iterator at {sites[site]}:{sites[site].column}"


class ShownIterator:
    """Stands for a real iterator, and shows its steps."""

    __slots__ = ("_items",)
    _items: Any

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """For `isinstance`: the class of the real iterator."""
        return type(self._items)

    def __repr__(self) -> str:
        return repr(self._items)

    def __iter__(self) -> Self:
        return self

    def __reduce__(self) -> Any:
        """Take the real iterator apart, to copy it; what it goes through is read, too."""
        raise NotImplementedError

    def __setstate__(self, state: Any) -> None:
        """Set the position of the real iterator."""
        raise NotImplementedError


class OwnIterator(ShownIterator):
    """An iterator over a container that only one thread has used."""

    __slots__ = ("_index", "_part", "_site", "_user")

    def __init__(self, part: Part, value: Any, items: Any, forwards: bool, site: int) -> None:
        """`value` is the container, or the view that the iterator goes through."""
        how = effect_of_step(part, value) if forwards else part[2]
        self._part = (part[0], part[1], how)
        self._items = items
        self._index = 0
        self._site = site
        self._user: int | None = None

    def __next__(self) -> Any:
        if self._user != now.thread:
            self._user = note_user(place_of(self._site), self._user)
        part = (*self._part, self._index)
        self._index += 1
        progress()
        return perform(part, self._site, next, self._items)

    def __reduce__(self) -> Any:
        self._user = note_user(place_of(self._site), self._user)
        part = (*self._part[:2], How.READ_ALL, None)
        return perform(part, self._site, self._items.__reduce__)

    def __setstate__(self, state: Any) -> None:
        self._user = note_user(place_of(self._site), self._user)
        self._items.__setstate__(state)
        if type(state) is int:
            self._index = state

    def share(self) -> None:
        """Note that threads share an iterator that goes through this one."""
        share(place_of(self._site))

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)

    def hint(self, function: Any, *default: int) -> Any:
        """Perform `operator.length_hint` of the real iterator."""
        self._user = note_user(place_of(self._site), self._user)
        part = (*self._part[:2], How.LOOK, None)
        return perform(part, self._site, function, self._items, *default)


class SharedIterator(ShownIterator):
    """An iterator that threads share; a step is one operation on it and its containers."""

    __slots__ = ("__weakref__", "_parts", "_turns")

    def __init__(
        self,
        parts: Sequence[Part],
        site: int,
        make: Callable[[Turns], Iterator[Any]],
        *,
        code: bool = False,
    ) -> None:
        """`code` says that a step may run other code."""
        self._parts = None if code else parts
        self._turns = Turns(parts, site, self)
        self._items = make(self._turns)

    def inside(self) -> tuple[list[Part], Any] | None:
        """Give the accesses of a step, and the real iterator, to one that goes through this one.

        None where a step runs other code.
        """
        if self._parts is None:
            return None
        return [part_of_opaque(self), *self._parts], self._items

    def __next__(self) -> Any:
        progress()
        return self._turns.perform(next, self._items)

    def __reduce__(self) -> Any:
        return self._turns.perform(self._items.__reduce__)

    def __setstate__(self, state: Any) -> None:
        self._turns.perform(self._items.__setstate__, state)

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)

    def hint(self, function: Any, *default: int) -> Any:
        """Perform `operator.length_hint` of the real iterator."""
        return self._turns.perform(function, self._items, *default)


@performs(CallEffect.HINTS_LENGTH)
def hint_length(function: Any, site: int, /, thing: Any, *default: int) -> Any:
    """Perform `operator.length_hint(thing)`, which reads a container, or where an iterator is."""
    if issubclass(type(thing), (OwnIterator, SharedIterator)):
        return thing.hint(function, *default)
    return performers[CallEffect.READS](function, site, thing, *default)


def iterator_over(
    value: Any, site: int, items: Any = None, forwards: bool = True, own: bool = False
) -> Any:
    """Make an iterator over a container that shows its steps.

    `items` is the real iterator, if it has been made.  `own` says that it is the built-in one, even
    if the class of the value has its own.
    """
    part = None if family(value) is None else part_of(value, How.READ_ALL)
    if part is None or not (own or is_built_in(type(value), "__iter__")):
        return value if items is None else items
    items = iterator_of(part, value, site) if items is None else items
    if place_of(site) in learned.moving:
        return SharedIterator([part], site, lambda _: items)
    return OwnIterator(part, value, items, forwards, site)


# -- iterators that C code makes of others -------------------------------------------------------

NAMED: Final = ("func", "key")
"""Names under which callbacks are given."""


def make_lazy_iterator(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Make an iterator that goes through the arguments step by step, such as a `map`."""
    place = place_of(site)
    given = list(arguments)
    numbers = given[1:] if function in NUMBERED else []
    del given[len(given) - len(numbers) :]
    at = CALLBACK_AT.get(function, len(arguments))
    called = [given.pop(at)] if at < len(given) else [named[n] for n in NAMED if n in named]
    if function is itertools.accumulate and called in ([], [None]):
        called = [operator.add]
    if place not in learned.moving:
        code = function is itertools.accumulate or any(map(_is_code, called))
        code = code and function not in (map, itertools.starmap)
        sources = [own_source(value, site) for value in given]
        aside = arguments[at : at + 1]
        items = function(*sources[:at], *aside, *sources[at:], *numbers, **named)
        is_whole = not code and all(map(operator.is_, sources, given))
        return items if is_whole else PassingIterator(items, place)
    if function is itertools.groupby:
        unobserved.note("an itertools.groupby that threads share")
        sources = [own_source(value, site) for value in given]
        return function(*sources, *called)
    parts = _join_sources(given)

    def make(turns: Turns) -> Iterator[Any]:
        sources = [_shared_source(value, site, turns) for value in given]
        if not called:
            return function(*sources, *numbers, **named)  # type: ignore[no-any-return]
        others = {name: value for name, value in named.items() if name not in NAMED}
        aside = _aside(called[0], turns)
        return function(*sources[:at], aside, *sources[at:], **others)  # type: ignore[no-any-return]

    return SharedIterator(parts, site, make, code=bool(called) or any(map(_shows_steps, given)))


def _join_sources(sources: list[Any]) -> list[Part]:
    """Find the accesses of a step through several sources at once.

    Iterators among the sources are replaced by the real ones, whose steps belong to the same
    operation.
    """
    parts = parts_of(sources)
    for number, value in enumerate(sources):
        if is_simple(value):
            parts.append(part_of_opaque(value))
        elif is_gone_through_by_c(type(value)):
            parts += parts_of_opaque(value)
        elif type(value) is OwnIterator:
            value.share()
        elif type(value) is SharedIterator and (inside := value.inside()) is not None:
            parts += inside[0]
            sources[number] = inside[1]
    return parts


def chain_lazily(function: Any, site: int, /, sources: Any) -> Any:
    """Perform `itertools.chain.from_iterable(sources)`."""
    place = place_of(site)
    if place not in learned.moving:
        own = partial(own_source, site=site)
        return PassingIterator(function(map(own, own(sources))), place)

    def make(turns: Turns) -> Iterator[Any]:
        def share_source(value: Any) -> Any:
            return _shared_source(iterator_over(value, site), site, turns)

        return function(map(share_source, share_source(sources)))  # type: ignore[no-any-return]

    return SharedIterator([], site, make, code=True)


def call_until(function: Any, site: int, callback: Any, sentinel: Any) -> Any:
    """Perform `iter(callback, sentinel)`; C code compares what is returned with the sentinel."""
    place = place_of(site)
    callback = _read_results(callback, site, sentinel)
    if place not in learned.moving:
        return PassingIterator(function(callback, sentinel), place)

    def make(turns: Turns) -> Iterator[Any]:
        return function(_aside(callback, turns), sentinel)  # type: ignore[no-any-return]

    return SharedIterator([], site, make, code=True)


def _read_results(callback: Any, site: int, sentinel: Any) -> Any:
    if type(sentinel) in SIMPLE:
        return callback

    def call_and_read() -> Any:
        found = callback()
        return perform_deep((found, sentinel), site, itself, found)

    return call_and_read


class PassingIterator(ShownIterator):
    """An iterator made of others that only one thread has used; it passes each step on."""

    __slots__ = ("_place", "_user")

    def __init__(self, items: Any, place: str) -> None:
        self._items = items
        self._place = place
        self._user: int | None = None

    def __next__(self) -> Any:
        if self._user != now.thread:
            self._user = note_user(self._place, self._user)
        progress()
        return next(self._items)

    def __reduce__(self) -> Any:
        self._user = note_user(self._place, self._user)
        return self._items.__reduce__()

    def __setstate__(self, state: Any) -> None:
        self._user = note_user(self._place, self._user)
        self._items.__setstate__(state)


def own_source(value: Any, site: int) -> Any:
    """Give what an iterator goes through that one thread uses."""
    if family(value) is not None:
        return iterator_over(value, site)
    if is_iterator(value) or runs_code(value):
        return Stepped(value, site)
    if is_gone_through_by_c(type(value)):
        return go_through(value, site)
    return in_order(value)


def _shared_source(value: Any, site: int, turns: Turns) -> Any:
    """Give what an iterator goes through that threads share."""
    if _shows_steps(value):
        return Stepped(value, site, turns)
    return steps_of(value) if is_set(value) else value


def _shows_steps(value: Any) -> bool:
    """Tell whether a step through something may run other code."""
    if family(value) is not None or is_simple(value):
        return False
    return is_iterator(value) or runs_code(value)


def is_simple(value: Any) -> bool:
    """Tell whether something is an iterator of C code whose steps run no other code."""
    if type(value) is GeneratorType or type(value) in LAZY or is_older_counter(value):
        return False
    return is_iterator(value)


def _is_code(function: Any) -> bool:
    """Tell whether a call of something may run code of the program."""
    kind = type(function)
    if function is None or kind in (FunctionHandle, BuiltinFunctionType, MethodDescriptorType):
        return False
    return not (issubclass(kind, type) and is_of_c(function))


def _aside(function: Any, turns: Turns) -> Any:
    """Give what C code calls instead of a callback, which splits the operation.

    A callback that is C code, too, and is given only plain values stays part of the operation.
    """
    if function is None:
        return None
    if _is_code(function):
        return partial(turns.aside, function)

    def call_aside(*arguments: Any) -> Any:
        if all(type(argument) in PLAIN for argument in arguments):
            return function(*arguments)
        return turns.aside(function, *arguments)

    return call_aside


class TeeLink(list[Any]):
    """An element that one iterator has taken, and the next link; empty until one comes there."""

    __slots__ = ()


class TeeSource:
    """What the iterators of one `tee` share."""

    __slots__ = ("__weakref__", "items", "taking", "turns")

    def __init__(self, value: Any, site: int) -> None:
        parts = [part_of_opaque(value)] if is_simple(value) else parts_of((value,))
        if not parts and is_gone_through_by_c(type(value)):
            parts = parts_of_opaque(value)
        self.turns = Turns(parts, site, self)
        self.taking: tuple[int, FrameType] | None = None
        """The thread that takes an element, and the frame in which it does."""
        if not is_simple(value) and (is_iterator(value) or runs_code(value)):
            value = Stepped(value, site, self.turns)
        self.items: Iterator[Any] = steps_of(value)

    def is_in_c(self) -> bool:
        """Tell whether the thread that takes an element runs C code alone."""
        if self.taking is None or self.taking[0] == get_ident() or may_run(self.items):
            return False
        ident, last = self.taking
        frame = sys._current_frames().get(ident)
        while frame is not None and frame is not last:
            if not frame.f_code.co_filename.startswith(MACHINERY):
                return False
            if frame.f_code is _ASIDE and read_variables(frame)["action"] not in _OWN_STEPS:
                return False  # C code that is called back may run code of the program
            frame = frame.f_back
        return True


_ASIDE: Final = Turns.aside.__code__
_OWN_STEPS: Final = (advance, iter)


def may_run(value: Any, asks: bool = False, depth: int = 30) -> bool:
    """Tell whether going through a value runs code of the program, by what C code refers to; `asks`
    says that C code also calls methods of the elements."""
    kind = type(value)
    if kind is GeneratorType:
        return not value.gi_code.co_filename.startswith(MACHINERY)
    if kind is FunctionType:
        is_own = value.__code__.co_filename.startswith(MACHINERY)
        return not is_own or may_run(value.__closure__ or (), asks, depth)
    if module_of(kind).startswith(_OWN):
        return kind in _SHOWING and may_run(_SHOWING[kind](value), asks, depth)
    if not (is_iterator(value) or kind in _LEADING or (asks and family(value) is not None)):
        is_class = issubclass(kind, type) and not is_of_c(value)
        return is_class or runs_code(value) or (asks and not is_of_c(kind))
    inside = get_referents(value)
    asks = asks or kind in _ASKING
    is_known = depth and len(inside) <= _MOST_ELEMENTS
    return not is_known or any(may_run(one, asks, depth - 1) for one in inside)


_MOST_ELEMENTS: Final = 1_000
_ASKING: Final = (
    *(map, filter, itertools.accumulate, itertools.compress, itertools.dropwhile),
    *(itertools.filterfalse, itertools.groupby, itertools.starmap, itertools.takewhile),
)
"""What calls a function for elements, or asks for their truth, or compares them."""
_OWN: Final = "mazurka.runtime."
_LEADING: Final = (tuple, list, partial, MethodType, CellType)


class _Taken(Exception):  # noqa: N818
    """Another thread is taking an element, in C code."""


class TeeIterator:
    """One of the iterators of a `tee`."""

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
        while True:
            try:
                return self._source.turns.perform(self._step)
            except _Taken:
                if not wait_for_change(self._source):
                    raise RuntimeError(_REENTERED) from None

    def _step(self) -> Any:
        kept = self._kept
        if not kept:
            self._take(kept)
        element, self._kept = kept
        return element

    def _take(self, kept: TeeLink) -> None:
        source = self._source
        if source.taking is not None:
            raise _Taken if source.is_in_c() else RuntimeError(_REENTERED)
        source.taking = get_ident(), sys._getframe()
        try:
            element = next(source.items)
        finally:
            source.taking = None
        kept += [element, TeeLink()]


_SHOWING: Final[dict[type, Callable[[Any], Any]]] = {
    Stepped: attrgetter("items"),
    TeeIterator: attrgetter("_source.items"),
    **dict.fromkeys((OwnIterator, SharedIterator, PassingIterator), attrgetter("_items")),
}
"""By type of ours: what objects go through."""
_REENTERED: Final = "cannot re-enter the tee iterator"


@performs(CallEffect.TEES)
def tee(function: Any, site: int, /, iterable: Any, n: int = 2) -> Any:
    """Perform `itertools.tee(iterable, n)`."""
    kind = type(iterable)
    if type(n) is not int or n < 1:
        return function(iterable, n)
    if kind is TeeIterator:
        first = iterable
    elif has_in_class(kind, "__copy__") and has_in_class(kind, "__next__"):
        return function(iterable, n)  # it asks that for copies
    else:
        first = TeeIterator(TeeSource(iterable, site), TeeLink())
    return (first, *(first.__copy__() for _ in range(n - 1)))
