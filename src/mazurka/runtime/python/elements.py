"""C code that asks each element something: is it true, is it less than another one, what is it in
sum.

`any(queues)` asks each queue whether something is in it; `sum(lists, [])` and `lists.sort()` read
the lists.  Where all elements are at hand, this is one operation, which reads all of them
(`deep`).  Where they come one by one, from code of the program or from an iterator, C code asks
each of them as soon as it has come, and an element that it keeps once more for each that comes
later.  So that is an operation of its own, and C code goes on before anybody else can move.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import (
    accumulate,
    compress,
    dropwhile,
    filterfalse,
    groupby,
    starmap,
    takewhile,
)
from types import GeneratorType
from typing import Any, Final

from mazurka.runtime.core.insides import has_in_class
from mazurka.runtime.python.callbacks import Stepped, itself
from mazurka.runtime.python.calls import handle
from mazurka.runtime.python.catalogue import SIMPLE
from mazurka.runtime.python.containers import family
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.iteration.iterators import make_lazy_iterator
from mazurka.runtime.python.iteration.loops import iterate, unpack

COMPARING: Final = frozenset({min, max})
ASKING: Final = frozenset({any, all, sum, *COMPARING})
"""Functions that ask the elements of what they are given, one after the other."""
TESTING: Final = frozenset({filter, filterfalse, takewhile, dropwhile})
"""Iterators that ask whether what a function returns is true."""


def are_at_hand(values: Any) -> bool:
    """Tell whether C code finds all elements there at once."""
    return family(values) is not None or issubclass(type(values), _WHOLE)


_WHOLE: Final = (tuple, frozenset, range, str, bytes)


def is_gone_through(values: Any) -> bool:
    """Tell whether C code searches values that come one by one: a generator, an iterator."""
    kind = type(values)
    return has_in_class(kind, "__next__") and not has_in_class(kind, "__contains__")


def come_one_by_one(function: Any, values: Any, site: int, *others: Any) -> Iterator[Any]:
    """Go through elements, and read each before C code asks it; `others` are asked with them.

    A generator is one that nobody else has (`callbacks.show_generators`)."""
    alone = type(values) in (GeneratorType, Stepped)
    items = values if alone else iterate(values, False, site)
    return _read_each(items, site, list(others), function in COMPARING)


def _read_each(items: Iterable[Any], site: int, kept: list[Any], compares: bool) -> Iterator[Any]:
    for element in items:
        if type(element) not in SIMPLE:
            perform_deep((element, *kept), site, itself, element)
            if compares:
                kept.append(element)
        yield element


def hold_pairs(values: Any) -> bool:
    """Tell whether C code takes the elements apart, as keys and values: `dict(pairs)`."""
    return family(values) is not dict and not hasattr(values, "keys")


def split_at_pairs(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """Divide the arguments of a kind of dictionary: those before its pairs, and the pairs."""
    if not issubclass(type(function), type) or not issubclass(function, dict):
        return arguments, ()
    at = 1 if issubclass(function, defaultdict) else 0
    pairs = arguments[at:]
    return (arguments[:at], pairs) if len(pairs) == 1 and hold_pairs(*pairs) else (arguments, ())


def read_keys(key: Callable[[Any], Any], site: int, *wanted: Any) -> Callable[[Any], Any]:
    """Give what `min`, `max` and `bisect` call to find out by what an element is compared; keys are
    compared with those before them, and with what is wanted."""
    kept = [value for value in wanted if type(value) not in SIMPLE]

    def find_key(element: Any) -> Any:
        found = key(element)
        if type(found) not in SIMPLE or kept:
            perform_deep((found, *kept), site, itself, found)
            kept.append(found)
        return found

    return find_key


def sort(values: list[Any], site: int, /, key: Any = None, reverse: Any = False) -> list[Any]:
    """Sort a list that nobody else has: all keys are found before the first is compared."""
    keys = values if key is None else list(map(key, values))
    found = iter(tuple(keys))

    def put_in_order() -> list[Any]:
        return sorted(values, key=lambda _: next(found), reverse=reverse)

    if SIMPLE.issuperset(map(type, keys)):
        return put_in_order()
    result: list[Any] = perform_deep(tuple(keys), site, put_in_order)
    return result


def _read_alone(site: int, element: Any) -> Any:
    """Read what C code will give a function as its arguments."""
    if type(element) in SIMPLE or (
        type(element) is tuple and SIMPLE.issuperset(map(type, element))
    ):
        return element
    return unpack(element, site)


def show_questions(function: Any, site: int, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace what an iterator calls, or goes through, by what shows what C code asks: whether
    results of `filter` are true, and how `groupby` compares keys."""
    ask = handle(bool, site)
    if function is compress:
        selectors = arguments[1:2]
        return (*arguments[:1], *(make_lazy_iterator(map, site, ask, each) for each in selectors))
    if function is starmap:
        read = partial(_read_alone, site)
        return (
            *arguments[:1],
            *(make_lazy_iterator(map, site, read, each) for each in arguments[1:]),
        )
    if function is accumulate and arguments[1:] in ((), (None,)):
        return (*arguments[:1], handle(operator.add, site))
    if function is groupby and arguments:
        return (arguments[0], read_keys((*arguments[1:], None)[0] or itself, site))
    if function not in TESTING or not arguments:
        return arguments
    callback = arguments[0]
    if callback is None:
        return (ask, *arguments[1:])

    def test(element: Any) -> Any:
        result = callback(element)
        return result if type(result) in SIMPLE else ask(result)

    return (test, *arguments[1:])
