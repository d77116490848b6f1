"""Values in a report: short, and without running any code of the user's.

The `repr` of an object may take locks or start threads; so only plain values are written out, other
objects are named by their class.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from mazurka.runtime.core.insides import ancestors, field_of, is_one_of, names_in_class

LONGEST = 40
MOST = 6
"""Elements of a container that are written out."""
MOST_BITS = 130
"""Longer numbers are told by their lengths."""
MISSING = object()
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def shown(value: Any, depth: int = 2) -> str:
    """Return a value as a report shows it."""
    kind = type(value)
    if kind is str or kind is bytes:
        return _string(value)
    if is_one_of(kind, _DATES) and type(getattr(value, "tzinfo", None)) in _ZONES:
        return str(value)
    if is_one_of(kind, _PLAIN) or is_one_of(kind, _WRITTEN_OUT):
        return short(_number(value) if kind is int else repr(value))
    base = next((base for base in ancestors(kind) if is_one_of(base, _BRACKETS)), None)
    if base is not None and depth > 0:
        return _container(value, base, depth)
    if issubclass(kind, Enum):
        return f"{field_of(kind, '__name__')}.{value._name_}"
    if issubclass(kind, (type, FunctionType)):
        return short(value.__qualname__)
    return f"<{field_of(kind, '__name__')}>"


def _string(value: Any) -> str:
    """Write a string out; what is too long is left out behind the quotes."""
    text = repr(value)
    cut = len(value)
    while len(text) > LONGEST:
        cut = min(cut, LONGEST) - 1
        text = f"{value[:cut]!r}..."
    return text


def _number(value: int) -> str:
    """Write a number out; Python itself refuses to write very long ones."""
    bits = value.bit_length()
    return repr(value) if bits < MOST_BITS else f"<int of {bits:,} bits>"


def is_plain(value: Any) -> bool:
    """Whether a value can be shown, compared and used as a key without any code of the user's."""
    return is_one_of(type(value), _PLAIN)


def short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _container(value: Any, base: Any, depth: int) -> str:
    """Write out as many elements as there is room for; none is cut off in the middle."""
    left, right = _BRACKETS[base]
    if issubclass(base, dict):
        # An ordered dictionary asks its keys for their hashes at every step of an iteration.
        ordered = base is OrderedDict and all(map(is_plain, dict.keys(value)))
        pairs = _first((base if ordered else dict).items(value))
        items = [f"{shown(k, depth - 1)}: {shown(v, depth - 1)}" for k, v in pairs]
    else:
        items = [shown(item, depth - 1) for item in _first(base.__iter__(value))]
    if not items and base in (set, frozenset):
        return f"{base.__name__}()"
    if base.__len__(value) > MOST:
        items.append("...")
    text = _fitting(items) + ("," if base is tuple and len(items) == 1 else "")
    kind = type(value)
    name = "" if kind is base else f"{field_of(kind, '__name__')} "
    return f"{name}{left}{text}{right}"


def _fitting(items: list[str]) -> str:
    text = ", ".join(items)
    kept = len(items)
    while len(text) > LONGEST - 2 and kept > 1:
        kept -= 1
        text = ", ".join([*items[:kept], "..."])
    return text


def _first(elements: Iterable[Any]) -> list[Any]:
    return list(islice(elements, MOST))


_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("{", "}"),
    deque: ("[", "]"),
    **dict.fromkeys((dict, defaultdict, Counter, OrderedDict), ("{", "}")),
}
"""Containers of the library, none of which runs code of the user's when it is looked through."""
_DATES = (datetime, date, time)
_WRITTEN_OUT = (Decimal, timedelta, range, bytearray)
"""Other types whose `repr` runs none either."""
_ZONES = (type(None), timezone)
"""Time zones that are not of the user's making."""


def attribute_of(thing: Any, name: str) -> Any:
    """Return the value of a variable that an object holds, looked up without its own code."""
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
    for base in ancestors(type(thing)):
        slot: Any = names_in_class(base).get(name)
        if field_of(type(slot), "__name__") == "member_descriptor" or _is_of_error(base, slot):
            try:
                return slot.__get__(thing)
            except AttributeError:
                return MISSING
    return MISSING


def _is_of_error(base: type, slot: Any) -> bool:
    """Whether C code keeps an attribute in exceptions: `error.args`."""
    return field_of(type(slot), "__name__") == "getset_descriptor" and issubclass(
        base, BaseException
    )


def of_class(thing: Any, name: str) -> Any:
    """Return the value that an object's class has for its objects, where no code makes it."""
    kind: type = thing if issubclass(type(thing), type) else type(thing)
    for base in ancestors(kind):
        found: Any = names_in_class(base).get(name, MISSING)
        if found is not MISSING:
            return MISSING if hasattr(type(found), "__get__") else found
    return MISSING


def element_of(thing: Any, key: Any) -> Any:
    """Return the element of a built-in container, or of one whose class is derived from one."""
    try:
        if issubclass(type(thing), dict):
            return dict.get(thing, key, MISSING)
        base = next((base for base in _SEQUENCES if issubclass(type(thing), base)), None)
        return MISSING if base is None else base.__getitem__(thing, key)
    except (LookupError, TypeError):
        return MISSING


_SEQUENCES: tuple[Any, ...] = (list, deque, bytearray, array)


def show_call(function: Any, args: Any, kwargs: Any) -> str:
    """Return a call as a report shows it: `square(2)`."""
    text = name_of_function(function)
    inner = [shown(one, 1) for one in args]
    inner += [f"{name}={shown(one, 1)}" for name, one in kwargs.items()]
    return f"{text}({short(', '.join(inner))})"


def name_of_function(function: Any) -> str:
    """Return the name of a function; of a method, the one by which its class knows it."""
    if issubclass(type(function), MethodType):
        kind = type(function.__self__)
        for known, found in (
            (n, f) for base in ancestors(kind) for n, f in names_in_class(base).items()
        ):
            if found is function.__func__:
                return f"{field_of(kind, '__name__')}.{known}"
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return f"<{type(function).__name__}>"
    return name.rpartition("<locals>.")[2]
