"""What functions, methods and tuples hold: using one leads to it, and nothing shows how.

A run meets an object before it reaches for what the object holds, except for some.  Whoever calls a
function does not look at it, and its code gets hold of what it has captured, of its defaults, and
of the object whose method it is.  A tuple cannot be changed, so nobody looks at it, either, and the
same holds for other objects of the interpreter, and for members of enumerations.  So where an
object holds one of these, it holds what is in there, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from enum import Enum
from functools import partial
from gc import get_referents
from itertools import cycle, repeat
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

from mazurka.runtime.core.insides import attributes, function_in, is_machinery
from mazurka.runtime.sharing.older_caches import CACHED

_LEAVES: Final = (str, bytes, int, float, complex, type(None), type, ModuleType)
_DEFAULTS: Final = vars(FunctionType)["__defaults__"]
_OF_PROPERTY: Final = tuple(vars(property)[name] for name in ("fget", "fset", "fdel"))
_ARGUMENTS: Final = vars(BaseException)["args"]
_OF_PARTIAL: Final = tuple(vars(partial)[name] for name in ("func", "args", "keywords"))


def find_captured(things: Iterable[Any]) -> tuple[Any, ...]:
    """Find what those of some objects hold that are functions, methods, tuples and the like, and
    what those hold that are found so."""
    found: dict[int, Any] = {}
    waiting = [thing for thing in things if is_passed_through(thing)]
    while waiting:
        for part in _captured_by(waiting.pop()):
            if id(part) not in found and not issubclass(type(part), _LEAVES):
                found[id(part)] = part
                if is_passed_through(part):
                    waiting.append(part)
    return tuple(found.values())


def is_passed_through(thing: Any) -> bool:
    """Whether code gets hold of what is in an object without looking at the object."""
    return type(thing) in _FINDERS or issubclass(type(thing), _KINDS)


def _captured_by(thing: Any) -> Iterator[Any]:
    kind = type(thing)
    find = _FINDERS.get(kind)
    if find is None:
        find = next(_FINDERS[base] for base in _KINDS if issubclass(kind, base))
    yield from find(thing)


def _in_function(function: FunctionType) -> Iterator[Any]:
    if is_machinery(function):
        return
    spaces: Any = function
    shared = (id(spaces.__globals__), id(spaces.__builtins__))
    yield from function.__closure__ or ()
    yield from _DEFAULTS.__get__(function) or ()
    for part in get_referents(function):  # asking a function for its attributes makes some
        if type(part) is dict and id(part) not in shared:
            yield part
            yield from part.values()


def _in_cell(cell: CellType) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:  # it is empty
        return


def _in_method(method: MethodType) -> Iterator[Any]:
    yield method.__self__
    yield method.__func__


def _in_cached(function: Any) -> Iterator[Any]:
    space_of = attributes(CACHED)
    space = None if space_of is None else space_of(function)
    if type(space) is dict:
        yield from space.values()


def _in_property(thing: property) -> Iterator[Any]:
    for part in _OF_PROPERTY:
        yield part.__get__(thing)


def _in_partial(thing: partial[Any]) -> Iterator[Any]:
    function, arguments, keywords = (part.__get__(thing) for part in _OF_PARTIAL)
    yield from (function, *arguments, keywords, *keywords.values())


def _in_bare(thing: Any) -> Iterator[Any]:
    yield function_in(thing)


def _in_member(member: Enum) -> Iterator[Any]:
    yield from vars(member).values()


def _in_error(error: BaseException) -> Iterator[Any]:
    yield from _ARGUMENTS.__get__(error)


_FINDERS: Final[dict[type, Any]] = {
    FunctionType: _in_function,
    CellType: _in_cell,
    MethodType: _in_method,
    CACHED: _in_cached,
    property: _in_property,
    partial: _in_partial,
    staticmethod: _in_bare,
    classmethod: _in_bare,
    tuple: get_referents,
    BaseException: _in_error,
    Enum: _in_member,
    **dict.fromkeys((frozenset, slice, MappingProxyType, ContextVar, repeat, cycle), get_referents),
    **dict.fromkeys((BuiltinFunctionType, MethodWrapperType), get_referents),
}
_KINDS: Final = (
    tuple,
    Enum,
    property,
    partial,
    staticmethod,
    classmethod,
    BaseException,
)
