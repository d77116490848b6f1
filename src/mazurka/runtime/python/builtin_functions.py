"""Built-in functions and types: what a call of each reads and changes."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import inspect
import io
import itertools
import random
import warnings
from _thread import get_ident
from array import array
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.attribute_functions import (
    deleting,
    getting,
    getting_own,
    getting_static,
    having,
    setting,
    variables,
)
from mazurka.runtime.python.containers import Part, perform_all
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.expressions import family, part_of, parts_of
from mazurka.runtime.python.identities import identity
from mazurka.runtime.python.loops import delegate, iterator_of
from mazurka.runtime.python.opaque import is_iterator, iterator_parts, step
from mazurka.runtime.python.printing import TRACING, printing, tracing
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.python.searching import asks_elements, note_comparisons
from mazurka.runtime.python.spaces import expose, space_of
from mazurka.runtime.python.stepping import LAZY, calling, lazily, own_source, stepping
from mazurka.runtime.python.tees import teeing
from mazurka.runtime.python.turns import going_through, runs_code, stepped
from mazurka.runtime.python.warning_filters import warning
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress


def _as_they_are(values: tuple[Any, ...], site: int) -> tuple[Any, ...]:
    return values


handled: Callable[[tuple[Any, ...], int], tuple[Any, ...]] = _as_they_are
"""Arguments that built-in code may call; `accesses_calls` says what becomes of them."""


def reading(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A built-in function, which reads the containers that it is given."""
    if "key" in named:
        named["key"] = handled((named["key"],), site)[0]
        if len(arguments) == 1 and function is not sorted:
            return function(delegate(arguments[0], site), **named)
    elif arguments and asks_elements(function, arguments[0]):
        return function(delegate(arguments[0], site), *arguments[1:], **named)
    arguments = stepped(arguments, site, function in _GATHERING or function.__name__ == "join")
    parts = [*parts_of(arguments), *iterator_parts(arguments)]
    if len(arguments) > 1 and parts and any(map(runs_code, arguments)):
        return going_through(parts, site, function, arguments, named)
    return perform_all(parts, site, function, *arguments, **named)


def reading_deeply(
    function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any
) -> Any:
    """One that compares or writes out what it is given, and so reads what is in it, too."""
    if "key" in named or (arguments and asks_elements(function, arguments[0])):
        return reading(function, site, *arguments, **named)
    arguments = stepped(arguments, site, len(arguments) == 1 and function in _COMPARING)
    more = iterator_parts(arguments)
    values = (*arguments, *named.values())
    return perform_deep(values, site, function, *arguments, more=more, **named)


def _looking(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    return perform_all(parts_of(arguments, How.LOOK), site, function, *arguments, **named)


def stepwise(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """One that makes an iterator, which goes through the arguments step by step."""
    for name in _CALLED & named.keys():
        named[name] = handled((named[name],), site)[0]
    return lazily(function, site, *handled(arguments, site), **named)


_CALLED: Final = frozenset({"func", "key"})


def iterating(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`iter` and `reversed`: an iterator in the hands of the program."""
    if len(arguments) > 1:
        return calling(function, site, *handled(arguments, site))
    value = arguments[0]
    part = None if family(value) is None else part_of(value, How.LOOK)
    items = function(value) if part is None else iterator_of(part, value, site, function)
    return stepping(value, site, items, function is iter)


def advancing(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`next`: something moves that no frame shows."""
    progress()
    if arguments and is_iterator(arguments[0]):
        return step(function, site, arguments[0], *arguments)
    return function(*arguments)


def _reducing(function: Any, site: int, /, *arguments: Any) -> Any:
    """`functools.reduce`: what is called may be code of the program, which runs in between."""
    callback, *rest = handled(arguments, site)
    sources = [own_source(value, site) for value in rest[:1]]
    return function(callback, *sources, *rest[1:])


def _changing(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A function of the standard library that changes its first argument."""
    note_comparisons(function, arguments, site)
    first = part_of(arguments[0], How.CHANGE) if arguments else None
    parts = [] if first is None else [first]
    parts += parts_of(arguments[1:])
    if function is _COUNTING:
        arguments = stepped(arguments, site)
        parts += iterator_parts(arguments[1:])
        return going_through(parts, site, function, arguments, named)
    return perform_all(parts, site, function, *arguments, **named)


_COUNTING: Final = vars(collections)["_count_elements"]


def _make_function(make: Any, _site: int, /, *arguments: Any, **named: Any) -> Any:
    """`types.FunctionType(code, ...)`"""
    code = arguments[0] if arguments else named.get("code")
    if type(code) is CodeType:
        code = at_present.rewriter.watch_code(code)
        if arguments:
            arguments = (code, *arguments[1:])
        else:
            named["code"] = code
    return make(*arguments, **named)


def _listing(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`dir`: the names of the attributes that something has."""
    space = None
    if arguments and session.current.ident == get_ident():
        expose(arguments[0])
        space = space_of(arguments[0])
    parts: list[Part] = [] if space is None else [(space, dict, How.LOOK, None)]
    return perform_all(parts, site, function, *arguments)


_COMPARING: Final = frozenset({sorted, min, max})
_EAGER: Final = (
    *(list, tuple, set, frozenset, dict, bytes, bytearray, sum, any, all),
    *(collections.deque, collections.OrderedDict, collections.defaultdict, array, io.BytesIO),
    *(itertools.product, itertools.permutations, itertools.combinations),
    itertools.combinations_with_replacement,
)
_GATHERING: Final = frozenset(_EAGER)
SPECIAL: Final[dict[int, Callable[..., Any]]] = {
    id(function): how
    for functions, how in (
        ((len, bool), _looking),
        ((sorted, min, max, repr, ascii, format, str, hash), reading_deeply),
        ((print,), printing),
        (TRACING, tracing),
        (_EAGER, reading),
        (LAZY, stepwise),
        ((iter, reversed), iterating),
        ((next,), advancing),
        ((id,), identity),
        ((heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace), _changing),
        ((heapq.heappushpop, bisect.insort, bisect.insort_left, random.shuffle), _changing),
        ((_COUNTING,), _changing),
        ((itertools.tee,), teeing),
        ((functools.reduce,), _reducing),
        ((warnings.warn, warnings.warn_explicit), warning),
        ((vars,), variables),
        ((dir,), _listing),
        ((FunctionType,), _make_function),
        ((getattr,), getting),
        ((inspect.getattr_static,), getting_static),
        ((hasattr,), having),
        ((object.__getattribute__, type.__getattribute__), getting_own),
        ((setattr, object.__setattr__, type.__setattr__), setting),
        ((delattr, object.__delattr__, type.__delattr__), deleting),
    )
    for function in functions
}
"""By the identity of a function or a type: what a call of it does."""
