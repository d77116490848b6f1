"""Names objects that exist before the exploration: what modules and the test itself hold.

The first run would meet them without having observed who made them.  They are named after the way
that leads to them, so that it does not matter who meets them first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from mazurka.runtime.core import insides
from mazurka.runtime.core.insides import elements, entries, names_in
from mazurka.runtime.core.sites import MARK

LIMIT = 20_000
"""How many objects are named."""
_CONTAINERS = (list, tuple, deque)
_LEAVES = (str, bytes, int, float, complex, type(None), type, ModuleType, range, frozenset)


def find_named_objects(
    modules: Mapping[str, ModuleType], test: object
) -> Iterator[tuple[Any, str]]:
    """Find objects and their names, each once."""
    waiting: deque[tuple[Any, str]] = deque()
    for name, module in sorted(modules.items()):
        for key, value in entries(names_in(module)):
            if key != MARK and not key.startswith("__"):
                waiting.append((value, f"{name}.{key}"))
    waiting.append((test, "test"))
    yield from _walk(waiting)


def _walk(waiting: deque[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    known: set[int] = set()
    kept: list[Any] = []
    while waiting and len(known) < LIMIT:
        value, name = waiting.popleft()
        if issubclass(type(value), _LEAVES) or id(value) in known:
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
    elif kind is CellType:
        try:
            yield value.cell_contents, f"{name}.value"
        except ValueError:
            return
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
