"""The order in which a program goes through a set: the same in every run, and in every process.

A set keeps its elements in the order of their hashes.  Those of objects are their addresses, which
are others in every run; those of strings are others in every process.  Python promises no order, so
any order is right, and here it is one that depends on neither: numbers and strings come in their
natural order, objects in the order of their names (`sharing.names`), that is as they were created.
What is left, such as objects that nobody has named, stays as the set has it.

An iterator of C code shows an element that is removed and another that is added while it is on its
way as it happens to come to their places.  Here an element that has been removed is not shown any
more, and one that has been added is not shown; a set whose size changes is an error, as always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from operator import length_hint
from types import FunctionType, MethodType
from typing import Any, Final, TypeAlias
from weakref import ReferenceType

from mazurka.runtime.core.insides import find_in_class, module_of, qualified_name
from mazurka.runtime.sharing.names import known

Key: TypeAlias = tuple[Any, ...]
"""A rank, and what decides among elements of the same rank."""
DEEPEST: Final = 3
"""How deep tuples in a set are looked into."""
LARGEST: Final = 10_000
"""The size up to which sets are put in order."""
_SETTLED: Final = frozenset({int, bool, float, complex, type(None)})
"""Types whose hashes are the same in every process: a set of these has an order of its own."""
_NUMBERS: Final = frozenset({int, bool, float})


def is_set(value: Any) -> bool:
    """Tell whether something is a set whose class lets the interpreter go through it."""
    kind = type(value)
    if kind is set or kind is frozenset:
        return True
    return (
        issubclass(kind, (set, frozenset))
        and type(find_in_class(kind, "__iter__")) is not FunctionType
    )


def in_order(value: Any) -> Any:
    """Return the elements of a set in order; anything else as it is."""
    return list_in_order(value) if is_set(value) else value


def list_in_order(values: Any) -> list[Any]:
    """Return the elements of a set in order."""
    base: Any = set if issubclass(type(values), set) else frozenset
    elements = list(base.__iter__(values))
    if not 1 < len(elements) <= LARGEST or _SETTLED.issuperset(map(type, elements)):
        return elements
    return sorted(elements, key=_rank)


def _rank(value: Any, depth: int = 0) -> Key:
    kind = type(value)
    if kind in _NUMBERS:
        return 0, value
    if kind is str:
        return 1, value
    if kind is bytes:
        return 2, value
    if kind in (tuple, frozenset) and depth < DEEPEST:
        return 3, tuple(_rank(part, depth + 1) for part in in_order(value))
    if issubclass(kind, ReferenceType):
        target = ReferenceType.__call__(value)
        return (4,) if target is None else (5, _rank(target, depth + 1))
    return _rank_object(value, kind, depth)


def _rank_object(value: Any, kind: type, depth: int) -> Key:
    seen = known(id(value))
    if seen is not None:
        return 6, seen.path, seen.number
    if kind is MethodType and depth < DEEPEST:
        return 7, _rank(value.__self__, depth + 1), _rank(value.__func__, depth + 1)
    if kind is FunctionType:
        code = value.__code__
        return 8, code.co_filename, code.co_firstlineno, code.co_qualname
    if issubclass(kind, type):
        return 9, module_of(value), qualified_name(value)
    if issubclass(kind, Enum):
        return 10, module_of(kind), qualified_name(kind), value._name_
    return 11, module_of(kind), qualified_name(kind)


# -- steps ---------------------------------------------------------------------------------------


class SetSteps:
    """An iterator over a set that goes through it in order."""

    __slots__ = ("_items", "_set", "_size")

    def __init__(self, values: set[Any]) -> None:
        self._set: set[Any] | None = values
        self._size = set.__len__(values)
        self._items = iter(list_in_order(values))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        values = self._set
        if values is None:
            raise StopIteration
        if set.__len__(values) != self._size:
            self._size = -1
            raise RuntimeError("Set changed size during iteration")
        for value in self._items:
            if _is_in(value, values):
                return value
        self._set = None
        raise StopIteration

    def __length_hint__(self) -> int:
        return 0 if self._set is None else length_hint(self._items)

    def __reduce__(self) -> Any:
        return iter, (list(self._items),)


def _is_in(value: Any, values: set[Any]) -> bool:
    """Whether this very object is in a set; no code of the program is asked."""
    if _is_hashed_by_c(value):
        return set.__contains__(values, value)
    return any(one is value for one in set.__iter__(values))


def _is_hashed_by_c(value: Any) -> bool:
    kind: Any = type(value)
    return kind in _PLAIN or find_in_class(kind, "__hash__") is object.__hash__


_PLAIN: Final = frozenset({*_SETTLED, str, bytes, FunctionType})


def steps_of(values: Any) -> Iterator[Any]:
    """Make an iterator over a set, or over anything else."""
    if issubclass(type(values), set) and is_set(values):
        return SetSteps(values)
    return iter(in_order(values))


def take_first(values: set[Any]) -> Any:
    """Perform `values.pop()`: take the first element; any other where code of the program would
    have to be asked for it."""
    if len(values) > 1:
        first = list_in_order(values)[0]
        if _is_hashed_by_c(first):
            set.remove(values, first)
            return first
    return set.pop(values)


def call_in_order(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Call a function that goes through sets among its arguments."""
    return function(*map(in_order, arguments), **named)
