"""Built-in functions as values: whoever calls them, the call is an access.

A thread's target, a callback and a sort key are called by code that nobody has rewritten.  What
rewritten code hands to such code is therefore a handle, where it is a function whose call touches
something; a bound method of a container becomes one as soon as it is taken from its object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from operator import attrgetter, itemgetter, methodcaller
from types import (
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final

from mazurka.runtime.core.access_sites import MARK
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.python.value_types import BUILT_IN


class Held:
    """A built-in function or method as a value.  It is like it in all other respects."""

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
        owner = getattr(self._method, "__self__", None)
        if owner is None:
            return self._method.__reduce__()
        return getattr, (owner, self._method.__name__)


CachedFunction: Final[Any] = type(lru_cache(len))
_TOUCHING: Final = frozenset(
    {
        *(*BUILT_IN, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType),
        *(attrgetter, itemgetter, methodcaller, CachedFunction),
    }
)
"""Types of callables that may touch something, and are no code of Python."""


def handles(values: Any, site: int, callee: Callable[[Any, int], Any]) -> list[Any]:
    """Arguments for code that nobody has rewritten; `callee` says what calls touch."""
    return [handle(value, site, callee) if may_touch(value) else value for value in values]


def may_touch(value: Any) -> bool:
    kind = type(value)
    if kind is FunctionType:
        if MARK not in value.__globals__:
            at_present.rewriter.watch_called(value)
        return False
    if kind is MethodType:
        return may_touch(value.__func__) and type(value.__func__) is CachedFunction
    if kind is partial:
        return may_touch(value.func)
    return kind in _TOUCHING


def handle(function: Any, site: int, callee: Callable[[Any, int], Any]) -> Any:
    call = callee(function, site)
    return function if call is function else Held(function, call)
