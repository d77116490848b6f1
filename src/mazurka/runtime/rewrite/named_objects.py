"""Names objects that exist before the exploration: what modules and the test itself hold.

The first run would meet them without having observed who made them.  They are named after the way
that leads to them, so that it does not matter who meets them first.  Classes have names already;
what they hold is named after them, in the module that defines them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from mazurka.runtime.core import insides
from mazurka.runtime.core.insides import (
    elements,
    entries,
    function_in,
    is_own,
    module_of,
    names_in,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.sites import MARK

LIMIT = 20_000
"""How many objects are named."""
_CONTAINERS = (list, tuple, deque)
_LEAVES = (str, bytes, int, float, complex, type(None), type, ModuleType, range, frozenset)

_AROUND_FUNCTIONS = (
    *(FunctionType, MethodType, CellType),
    *(staticmethod, classmethod, property, partial),
)


def find_named_objects(
    modules: Mapping[str, ModuleType], test: object
) -> Iterator[tuple[Any, str]]:
    """Find objects and their names, each once."""
    waiting: deque[tuple[Any, str]] = deque()
    inner: deque[tuple[Any, str]] = deque()
    for name, module in sorted(modules.items()):
        for key, value in entries(names_in(module)):
            if key != MARK and not key.startswith("__"):
                waiting.append((value, f"{name}.{key}"))
                if issubclass(type(value), type) and module_of(value) == name:
                    inner.extend(_parts_of_class(value, f"{name}.{key}"))
    waiting.append((test, "test"))
    yield from _walk(waiting + inner)


def find_parts(module: ModuleType) -> Iterator[Any]:
    """Find what the functions and classes of a module hold."""
    waiting: deque[tuple[Any, str]] = deque()
    for _, value in entries(names_in(module)):
        if type(value) is FunctionType:
            waiting.append((value, ""))
        elif issubclass(type(value), type) and module_of(value) == module.__name__:
            waiting.extend(_parts_of_class(value, ""))
    known: set[int] = set()
    while waiting:
        value, _ = waiting.popleft()
        if issubclass(type(value), _LEAVES) or id(value) in known:
            continue
        known.add(id(value))
        yield value
        if issubclass(type(value), _AROUND_FUNCTIONS):
            waiting.extend(_parts(value, ""))


def _parts_of_class(kind: type, name: str) -> Iterator[tuple[Any, str]]:
    """What a class holds, and what its methods do, and classes inside of it."""
    for key, part in list(names_in_class(kind).items()):
        if key.startswith("__") and key.endswith("__") and type(part) is not FunctionType:
            continue
        if issubclass(type(part), type):
            if qualified_name(part).startswith(f"{qualified_name(kind)}."):
                yield from _parts_of_class(part, f"{name}.{key}")
        elif type(part) is not FunctionType or _holds_something(part):
            yield part, f"{name}.{key}"


def _holds_something(function: FunctionType) -> bool:
    parts = (function.__defaults__, function.__closure__, function.__kwdefaults__)
    return any(parts) or bool(function.__dict__)


def _walk(waiting: deque[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    known: set[int] = set()
    kept: list[Any] = []
    while waiting and len(known) < LIMIT:
        value, name = waiting.popleft()
        if issubclass(type(value), _LEAVES) or id(value) in known or is_own(value):
            continue
        known.add(id(value))
        kept.append(value)
        yield value, name
        waiting.extend(_parts(value, name))


def _parts(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    """What an object holds, in an order that is the same in every process."""
    kind = type(value)
    if issubclass(kind, _CONTAINERS):
        for index, part in enumerate(elements(value)):
            yield part, f"{name}[{index}]"
    elif issubclass(kind, dict):
        for index, (key, part) in enumerate(entries(value)):
            label = repr(key) if type(key) in (str, int) else f"#{index}"
            yield part, f"{name}[{label}]"
    elif kind is FunctionType:
        for variable, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            yield cell, f"{name}.{variable}"
        for index, part in enumerate(value.__defaults__ or ()):
            yield part, f"{name}.default{index}"
        for label, part in entries({**(value.__kwdefaults__ or {}), **value.__dict__}):
            yield part, f"{name}.{label}"
    elif kind is CellType:
        try:
            yield value.cell_contents, f"{name}.value"
        except ValueError:
            return
    elif issubclass(kind, (staticmethod, classmethod)):
        yield function_in(value), f"{name}.function"
    elif issubclass(kind, property):
        for label in ("fget", "fset", "fdel"):
            yield vars(property)[label].__get__(value), f"{name}.{label}"
    elif kind is memoryview:
        with suppress(ValueError):  # it has been released
            yield value.obj, f"{name}.obj"
    elif kind is MethodType:
        yield value.__self__, f"{name}.self"
        yield value.__func__, f"{name}.function"
    elif issubclass(kind, partial):
        for label, slot in _PARTIAL:
            yield slot.__get__(value), f"{name}.{label}"
    else:
        yield from _attributes_of(value, name)


_PARTIAL = (
    ("function", vars(partial)["func"]),
    ("arguments", vars(partial)["args"]),
    ("keywords", vars(partial)["keywords"]),
)


def _attributes_of(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    space_of = insides.attributes(type(value))
    space = None if space_of is None else space_of(value)
    if type(space) is dict:
        for key, part in entries(space):
            if type(key) is str:
                yield part, f"{name}.{key}"
