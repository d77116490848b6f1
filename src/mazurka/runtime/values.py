"""Values in a report: short, and without running any code of the user's.

The `repr` of an object may take locks or start threads; so only plain values are written out, other
objects are named by their class.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import CellType, FunctionType, ModuleType
from typing import Any

LONGEST = 40
MOST = 6
"""Elements of a container that are written out."""
MISSING = object()
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def shown(value: Any, depth: int = 2) -> str:
    """A value as a report shows it."""
    kind = type(value)
    if kind in _PLAIN:
        text = repr(value)
    elif kind in _BRACKETS and depth > 0:
        text = _container(value, depth)
    elif isinstance(value, (type, FunctionType)):
        text = value.__qualname__
    else:
        text = f"<{kind.__name__}>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _container(value: Any, depth: int) -> str:
    left, right = _BRACKETS[type(value)]
    if isinstance(value, dict):
        items = [f"{shown(k, depth - 1)}: {shown(v, depth - 1)}" for k, v in _first(value.items())]
    else:
        items = [shown(item, depth - 1) for item in _first(value)]
    if len(value) > MOST:
        items.append("...")
    if isinstance(value, tuple) and len(items) == 1:
        items.append("")
    return f"{left}{', '.join(items)}{right}" if value or left != "{" else f"{left}{right}"


def _first(values: Any) -> list[Any]:
    return list(values)[:MOST]


_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("{", "}"),
    deque: ("[", "]"),
    **dict.fromkeys((dict, defaultdict, Counter, OrderedDict), ("{", "}")),
}
"""Containers of the library, none of which runs code of the user's when it is looked through."""


def attribute_of(thing: Any, name: str) -> Any:
    """The value of a variable that an object holds, looked up without its own code."""
    if isinstance(thing, CellType):
        try:
            return thing.cell_contents
        except ValueError:
            return MISSING
    if isinstance(thing, (ModuleType, type)):
        return vars(thing).get(name, MISSING)
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        found = {}
    if isinstance(found, dict) and name in found:
        return found[name]
    for base in type(thing).__mro__:
        slot: Any = vars(base).get(name)
        if type(slot).__name__ == "member_descriptor":
            try:
                return slot.__get__(thing)
            except AttributeError:
                return MISSING
    return MISSING


def element_of(thing: Any, key: Any) -> Any:
    """The element of a built-in container, or of one that is made from one."""
    try:
        if isinstance(thing, dict):
            return dict.__getitem__(thing, key)
        return list.__getitem__(thing, key) if isinstance(thing, list) else MISSING
    except (LookupError, TypeError):
        return MISSING
