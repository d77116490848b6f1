"""Built-in functions and types: what a call of each reads and changes."""

from __future__ import annotations

import bisect
import collections
import heapq
import io
import itertools
import random
import sys
import warnings
from _thread import get_ident
from array import array
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.accesses import load
from mazurka.runtime.accesses_attributes import (
    deleting,
    getting,
    getting_own,
    having,
    setting,
    variables,
)
from mazurka.runtime.accesses_containers import Part, perform_all
from mazurka.runtime.accesses_deep import perform_deep
from mazurka.runtime.accesses_expressions import family, part_of, parts_of
from mazurka.runtime.accesses_identities import identity
from mazurka.runtime.accesses_loops import each, each_delegated, iterator_of
from mazurka.runtime.accesses_names import objects
from mazurka.runtime.accesses_opaque import (
    is_iterator,
    iterator_parts,
    part_of_opaque,
    step,
    stepped,
)
from mazurka.runtime.accesses_operations import How
from mazurka.runtime.accesses_searching import asks_elements, note_comparisons
from mazurka.runtime.accesses_spaces import expose, space_of
from mazurka.runtime.accesses_stepping import joined, stepping
from mazurka.runtime.accesses_warnings import warning
from mazurka.runtime.scheduler import session
from mazurka.runtime.sharing import progress


def _as_they_are(values: tuple[Any, ...], site: int) -> tuple[Any, ...]:
    return values


handled: Callable[[tuple[Any, ...], int], tuple[Any, ...]] = _as_they_are
"""Arguments that built-in code may call; `accesses_calls` says what becomes of them."""


def reading(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A built-in function, which reads the containers that it is given."""
    if "key" in named:
        named["key"] = handled((named["key"],), site)[0]
        if len(arguments) == 1 and function is not sorted:
            return function(each_delegated(arguments[0], site), **named)
    elif arguments and asks_elements(function, arguments[0]):
        return function(each_delegated(arguments[0], site), *arguments[1:], **named)
    arguments = stepped(arguments, site, kept=False)
    parts = [*parts_of(arguments), *iterator_parts(arguments)]
    return perform_all(parts, site, function, *arguments, **named)


def reading_deeply(
    function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any
) -> Any:
    """One that compares or writes out what it is given, and so reads what is in it, too."""
    if "key" in named or (arguments and asks_elements(function, arguments[0])):
        return reading(function, site, *arguments, **named)
    arguments = stepped(arguments, site, kept=False)
    more = iterator_parts(arguments)
    values = (*arguments, *named.values())
    return perform_deep(values, site, function, *arguments, more=more, **named)


def _looking(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    return perform_all(parts_of(arguments, How.LOOK), site, function, *arguments, **named)


def stepwise(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """One that makes an iterator, which goes through the arguments step by step."""
    arguments = stepped(handled(arguments, site), site, kept=True)
    if not named and (function is zip or function is enumerate):
        return joined(function, arguments, site)
    return function(*(stepping(argument, site) for argument in arguments), **named)


def iterating(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`iter` and `reversed`: an iterator in the hands of the program."""
    if len(arguments) > 1:
        return function(*handled(arguments, site))
    value = arguments[0]
    part = None if family(value) is None else part_of(value, How.LOOK)
    items = function(value) if part is None else iterator_of(part, value, site, function)
    return stepping(value, site, items, function is iter)


def chaining(function: Callable[..., Any], site: int, /, sources: Any) -> Any:
    """`itertools.chain.from_iterable`"""
    return function(stepping(source, site) for source in each(sources, False, site))


def advancing(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`next`: something moves that no frame shows."""
    progress()
    if arguments and is_iterator(arguments[0]):
        return step(function, site, arguments[0], *arguments)
    return function(*arguments)


def _changing(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A function of the standard library that changes its first argument."""
    note_comparisons(function, arguments, site)
    first = part_of(arguments[0], How.CHANGE) if arguments else None
    parts = [] if first is None else [first]
    arguments = stepped(arguments, site, kept=False)
    parts += [*parts_of(arguments[1:]), *iterator_parts(arguments[1:])]
    return perform_all(parts, site, function, *arguments, **named)


def _printing(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """What is printed to a file of the program's is kept there."""
    file = named.get("file")
    if file is None:
        named["file"] = stream = load(sys, "stdout", site)
        if id(stream) in objects or isinstance(stream, io.StringIO):
            file = stream
    more: list[Part] = []
    if file is not None and getattr(type(file), "__module__", "") == "_io":
        more.append(part_of_opaque(file))
    return perform_deep(arguments, site, function, *arguments, more=more, **named)


def _listing(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`dir`: the names of the attributes that something has."""
    space = None
    if arguments and session.current.ident == get_ident():
        expose(arguments[0])
        space = space_of(arguments[0])
    parts: list[Part] = [] if space is None else [(space, dict, How.LOOK, None)]
    return perform_all(parts, site, function, *arguments)


_LAZY: Final = (
    *(enumerate, zip, map, filter, itertools.chain, itertools.islice, itertools.cycle),
    *(itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.filterfalse),
    *(itertools.starmap, itertools.compress, itertools.pairwise, itertools.zip_longest),
    itertools.groupby,
)
_EAGER: Final = (
    *(list, tuple, set, frozenset, dict, bytes, bytearray, sum, any, all),
    *(collections.deque, collections.OrderedDict, collections.defaultdict, array, io.BytesIO),
    *(itertools.product, itertools.permutations, itertools.combinations),
    itertools.combinations_with_replacement,
)
SPECIAL: Final[dict[int, Callable[..., Any]]] = {
    id(function): how
    for functions, how in (
        ((len, bool), _looking),
        ((sorted, min, max, repr, ascii, format, str, hash), reading_deeply),
        ((print,), _printing),
        (_EAGER, reading),
        (_LAZY, stepwise),
        ((iter, reversed), iterating),
        ((next,), advancing),
        ((id,), identity),
        ((heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace), _changing),
        ((heapq.heappushpop, bisect.insort, bisect.insort_left, random.shuffle), _changing),
        ((vars(collections)["_count_elements"],), _changing),
        ((warnings.warn, warnings.warn_explicit), warning),
        ((vars,), variables),
        ((dir,), _listing),
        ((getattr,), getting),
        ((hasattr,), having),
        ((object.__getattribute__, type.__getattribute__), getting_own),
        ((setattr, object.__setattr__, type.__setattr__), setting),
        ((delattr, object.__delattr__, type.__delattr__), deleting),
    )
    for function in functions
}
"""By the identity of a function or a type: what a call of it does."""
