"""What rewritten code calls where it calls something.

`f(x)` becomes `made(callee(f)(x))`, and `o.m(x)` becomes `made(method(o, "m")(x))`.  Functions of
the program are called as they are, with no frame in between.  A method of a built-in container
becomes one access, performed after the arguments have been evaluated.  A built-in function reads
the containers that it is given; some read them step by step, and some change them.  `made` shows
new objects to those who name them.
"""

from __future__ import annotations

import bisect
import builtins
import heapq
import random
from _thread import get_ident
from collections.abc import Callable
from functools import lru_cache, partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final, NamedTuple

from mazurka.runtime import accesses
from mazurka.runtime.accesses import load
from mazurka.runtime.accesses_attributes import (
    BOUND,
    deleting,
    getting,
    getting_own,
    having,
    setting,
)
from mazurka.runtime.accesses_containers import (
    UNKNOWN,
    Family,
    Part,
    families,
    family_of,
    is_built_in,
    is_mine,
    perform_all,
)
from mazurka.runtime.accesses_expressions import (
    each_delegated,
    family,
    part_of,
    parts_of,
)
from mazurka.runtime.accesses_foreign import cached, foreign, moved
from mazurka.runtime.accesses_methods import METHODS, TAKES_ELEMENTS
from mazurka.runtime.accesses_names import names, objects
from mazurka.runtime.accesses_opaque import (
    PLAIN,
    is_iterator,
    is_opaque,
    iterator_parts,
    step,
    stepped,
)
from mazurka.runtime.accesses_operations import WRITING, How
from mazurka.runtime.accesses_stepping import joined, stepping
from mazurka.runtime.monitoring import MARK, unobserved
from mazurka.runtime.scheduler import session
from mazurka.runtime.sharing import now, progress

_PLAIN: Final = PLAIN | {partial}


def made(value: Any) -> Any:
    """Something may have been created; its creator names it."""
    if type(value) in _PLAIN or session.current.ident != get_ident():
        return value
    seen = objects.get(id(value))
    if seen is None or seen.maker != now.thread:
        names.see(value)
    return value


# -- methods of containers -----------------------------------------------------------------------


_KEEPS_ARGUMENTS: Final = frozenset({"append", "appendleft", "insert", "remove", "add", "discard"})


class Plan(NamedTuple):
    """What a method does to its container."""

    built_on: Family
    name: str
    how: How
    writing: bool
    alone: bool
    """Whether the container is all that it touches, whatever its arguments are."""


def _plan(built_on: Family, name: str) -> Plan:
    how = METHODS[built_on][name]
    alone = not (how is How.CHANGE or built_on is set) or name in _KEEPS_ARGUMENTS
    return Plan(built_on, name, how, how in WRITING, alone)


_PLANS: Final = {(kind, name): _plan(kind, name) for kind in METHODS for name in METHODS[kind]}


def _act(
    action: Any, container: Any, plan: Plan, site: int, /, *arguments: Any, **named: Any
) -> Any:
    """A method of a container, as one access; step by step where it runs other code on the way."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    built_on, name, how, writing, alone = plan
    if alone and is_mine(container, site, writing):
        return action(*arguments, **named)
    if name in TAKES_ELEMENTS and len(arguments) == 1 and not named:
        source = arguments[0]
        if family(source) is None and type(source) not in _PLAIN:
            return _take_elements(container, built_on, name, site, source)
    key = arguments[0] if arguments else None
    parts: list[Part] = [(container, built_on, how, key)]
    if not alone:
        parts += parts_of(arguments)
    return perform_all(parts, site, action, *arguments, **named)


_ONE: Final = {"extend": "append", "extendleft": "appendleft"}


def _take_elements(container: Any, built_on: Family, name: str, site: int, source: Any) -> None:
    """From an iterator: its code runs between the elements, and each comes in by itself."""
    if hasattr(source, "keys"):
        source = [(key, source[key]) for key in source.keys()]  # noqa: SIM118 - any mapping
    for element in source:
        if built_on is dict:
            key, value = element
            parts: list[Part] = [(container, built_on, How.WRITE, key)]
            perform_all(parts, site, _own(container, built_on, "__setitem__"), key, value)
        elif built_on is set:
            parts = [(container, built_on, How.ENSURE, element)]
            perform_all(parts, site, _own(container, built_on, "add"), element)
        else:
            parts = [(container, built_on, How.CHANGE, None)]
            add = _own(container, built_on, _ONE.get(name, "append"))
            perform_all(parts, site, add, element)


def _own(container: Any, built_on: Family, name: str) -> Any:
    """A method as built-in code calls it: not the one that a class of the program has instead."""
    kind = type(container)
    return partial(getattr(kind if is_built_in(kind, name) else built_on, name), container)


def method(thing: Any, name: str, site: int) -> Any:
    """What `thing.name(...)` calls."""
    kind = type(thing)
    plan = _PLANS.get((kind, name))
    if plan is None:
        found = families.get(kind, UNKNOWN)
        if found is UNKNOWN:
            found = family_of(kind)
        if found in METHODS and name in METHODS[found] and _is_own(kind, name):
            plan = _PLANS[found, name]
    if plan is not None:
        return partial(_act, getattr(thing, name), thing, plan, site)
    return callee(load(thing, name, site), site)


def _is_own(kind: type, name: str) -> bool:
    """Whether the method comes with Python: built in, or of a class of the standard library."""
    if is_built_in(kind, name):
        return True
    function = getattr(kind, name)
    return getattr(function, "__module__", "") == "collections"


class Held:
    """A built-in method as a value: a thread's target, a callback, a variable.

    Whoever calls it, the call is an access.  It is like the method in all other respects.
    """

    __slots__ = ("_call", "_method")

    def __init__(self, function: Any, call: Any) -> None:
        self._method = function
        self._call = call

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def __repr__(self) -> str:
        return repr(self._method)

    def __eq__(self, other: object) -> bool:
        method: object = self._method
        return method == (other._method if isinstance(other, Held) else other)

    def __hash__(self) -> int:
        return hash(self._method)

    def __reduce__(self) -> Any:
        return getattr, (self._method.__self__, self._method.__name__)


def _held(function: Any, site: int) -> Any:
    owner = function.__self__
    if owner is None or type(owner) in _PLAIN or session.current.ident != get_ident():
        return function
    call = _built_in(function, site)
    return function if call is function else Held(function, call)


accesses.hold = _held


# -- other calls ---------------------------------------------------------------------------------


def _reading(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A built-in function, which reads the containers that it is given."""
    if "key" in named and len(arguments) == 1 and function is not sorted:
        return function(each_delegated(arguments[0], site), **named)
    arguments = stepped(arguments, site, kept=False)
    parts = [*parts_of(arguments), *iterator_parts(arguments)]
    return perform_all(parts, site, function, *arguments, **named)


def _looking(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    return perform_all(parts_of(arguments, How.LOOK), site, function, *arguments, **named)


def _stepping(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    arguments = stepped(arguments, site, kept=True)
    if not named and (function is zip or function is enumerate):
        return joined(function, arguments, site)
    return function(*(stepping(argument, site) for argument in arguments), **named)


def _iterating(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`iter` and `reversed`: an iterator in the hands of the program."""
    items = function(*arguments)
    if len(arguments) > 1:
        return items
    return stepping(arguments[0], site, items, function is iter)


def _advancing(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`next`: something moves that no frame shows."""
    progress()
    if arguments and is_iterator(arguments[0]):
        return step(function, site, arguments[0], *arguments)
    return function(*arguments)


def _changing(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A function of the standard library that changes its first argument."""
    first = part_of(arguments[0], How.CHANGE) if arguments else None
    parts = [] if first is None else [first]
    return perform_all(parts, site, function, *arguments, **named)


_SPECIAL: Final[dict[int, Callable[..., Any]]] = {
    id(function): how
    for functions, how in (
        ((len,), _looking),
        ((sorted, sum, min, max, any, all, repr, print, format), _reading),
        ((list, tuple, set, frozenset, dict, str, bytes, bytearray), _reading),
        ((enumerate, zip, map, filter), _stepping),
        ((iter, reversed), _iterating),
        ((next,), _advancing),
        ((heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace), _changing),
        ((heapq.heappushpop, bisect.insort, bisect.insort_left, random.shuffle), _changing),
        ((getattr,), getting),
        ((hasattr,), having),
        ((object.__getattribute__,), getting_own),
        ((setattr, object.__setattr__), setting),
        ((delattr, object.__delattr__), deleting),
    )
    for function in functions
}
_CachedFunction: Final = type(lru_cache(len))
_UNTOUCHED: Final = frozenset(
    id(function) for function in (isinstance, issubclass, id, callable, range, abs, ord, chr)
)


def handed(value: Any, what: str) -> Any:
    """Something is handed to `exec` or `eval`, which run code that nobody has rewritten."""
    unobserved.note(what)
    return value


def callee(function: Any, site: int) -> Any:
    """What `function(...)` calls."""
    kind = type(function)
    if kind is FunctionType:
        _call(function, site)
        return function
    if kind is MethodType:
        _call(function.__func__, site)
        return function
    if session.current.ident != get_ident():
        return function
    special = _SPECIAL.get(id(function))
    if special is not None:
        return partial(special, function, site)
    if kind is BuiltinFunctionType:
        return _built_in(function, site)
    if kind is MethodWrapperType and function.__name__ in BOUND:
        return partial(BOUND[function.__name__], function, site)
    if kind is MethodDescriptorType and function.__objclass__ in METHODS:
        if function.__name__ in METHODS[function.__objclass__]:
            return partial(_unbound, function, site)
    elif isinstance(function, type):
        unobserved.called(function)
    elif kind is _CachedFunction:
        unobserved.note("functools.lru_cache")
        return partial(cached, function, site)
    elif kind is partial:
        return partial(callee(function.func, site), *function.args, **function.keywords)
    elif kind.__module__ == "operator":
        return partial(_reading, function, site)
    return function


def _call(function: Any, site: int) -> None:
    """A function of Python; if nobody watches what it does, it may do something."""
    space = getattr(function, "__globals__", None)
    if space is None or MARK in space:
        return
    unobserved.called(function)
    run = session.current
    if run.ident == get_ident() and not space.get("__name__", "").startswith(_CONTROLLED):
        progress()


_CONTROLLED: Final = ("mazurka.", "threading", "queue", "time", "concurrent.")
"""Modules whose functions are watched by other means."""


def _unbound(function: Any, site: int, /, thing: Any, *arguments: Any, **named: Any) -> Any:
    """`list.append(thing, ...)`"""
    plan = _PLANS[function.__objclass__, function.__name__]
    return _act(function.__get__(thing), thing, plan, site, *arguments, **named)


def _built_in(function: Any, site: int) -> Any:
    if id(function) in _UNTOUCHED:
        return function
    owner = function.__self__
    if owner is None or type(owner) is ModuleType:
        unobserved.called(function)
        if owner is builtins:
            return partial(_reading, function, site)
        progress()
        return partial(foreign, function, site)
    found = family(owner)
    if found in METHODS and function.__name__ in METHODS[found]:
        return partial(_act, function, owner, _PLANS[found, function.__name__], site)
    if type(owner) is str and function.__name__ == "join":
        return partial(_reading, function, site)
    if type(owner) is GeneratorType:
        return partial(step, function, site, owner)
    if is_opaque(owner) and not hasattr(object, function.__name__):
        unobserved.meet(type(owner))
        return partial(moved, function, site, owner)
    return function
