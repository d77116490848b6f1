"""Values in a report: short, and without running any code of the user's.

The `repr` of an object may take locks or start threads; so only plain values are written out, other
objects are named by their class.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import CellType, FunctionType, MethodType, ModuleType
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
    return short(text)


def is_plain(value: Any) -> bool:
    """Whether a value can be shown, compared and used as a key without any code of the user's."""
    return type(value) in _PLAIN


def short(text: str) -> str:
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
    if issubclass(type(thing), CellType):
        try:
            return thing.cell_contents
        except ValueError:
            return MISSING
    if issubclass(type(thing), (ModuleType, type)):
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
            return dict.get(thing, key, MISSING)
        return list.__getitem__(thing, key) if isinstance(thing, list) else MISSING
    except (LookupError, TypeError):
        return MISSING


def called(function: Any, args: Any, kwargs: Any) -> str:
    """A call as a report shows it: `square(2)`."""
    text = _name_of_function(function)
    inner = [shown(one, 1) for one in args]
    inner += [f"{name}={shown(one, 1)}" for name, one in kwargs.items()]
    return f"{text}({short(', '.join(inner))})"


def _name_of_function(function: Any) -> str:
    """Its name; that of a method as its class calls it, which may be another than its own."""
    if isinstance(function, MethodType):
        kind = type(function.__self__)
        for known, found in ((n, f) for base in kind.__mro__ for n, f in vars(base).items()):
            if found is function.__func__:
                return f"{kind.__name__}.{known}"
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return f"<{type(function).__name__}>"
    return name.rpartition("<locals>.")[2]


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
