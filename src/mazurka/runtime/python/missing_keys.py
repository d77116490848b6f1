"""Dictionaries that make the values of keys that are not there: `defaultdict`, `__missing__`.

If code of the program makes the value, other threads may run between looking the key up and adding
it.  If it is C code (`list`, the `__next__` of a counter), the subscript is one access, with all
that the factory may change.
"""

from __future__ import annotations

import operator
from _thread import get_ident
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodWrapperType
from typing import Any, Final

from mazurka.runtime.core.insides import find_in_class
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.lock import Lock
from mazurka.runtime.python import containers
from mazurka.runtime.python.calls import FunctionHandle, receive, receive_published
from mazurka.runtime.python.catalogue import BUILT_IN, METHODS
from mazurka.runtime.python.containers import UNKNOWN, perform
from mazurka.runtime.python.library.dates import follow_clock
from mazurka.runtime.python.opaque import opaque_parts
from mazurka.runtime.sharing.accesses import How

_C_FACTORIES: Final = frozenset({*BUILT_IN, MethodWrapperType, FunctionHandle, type(None)})
"""Types of factories that are C code."""


def makes_new(table: Any) -> bool:
    """Tell whether a dictionary makes the value of a key that is not there."""
    if type(find_in_class(type(table), "__missing__")) is FunctionType:
        return True
    return issubclass(type(table), defaultdict) and table.default_factory is not None


def read_or_make(table: Any, key: Any, site: int) -> Any:
    """`table[key]`, for a dictionary that makes values."""
    by_method = isinstance(type(table).__missing__, FunctionType)
    if not by_method and not _runs_code(table.default_factory):
        return _make(table, How.ENSURE, key, site, _get_or_add)
    found = perform((table, dict, How.READ, key), site, dict.get, table, key, UNKNOWN)
    if found is not UNKNOWN:
        return found
    return type(table).__missing__(table, key) if by_method else add_missing(table, site, key)


def add_missing(table: defaultdict[Any, Any], site: int, key: Any) -> Any:
    """`table.__missing__(key)`: make a value and store it, whatever is there."""
    if table.default_factory is None:
        raise KeyError(key)
    if not _runs_code(table.default_factory):
        return _make(table, How.WRITE, key, site, _add)
    value = receive(table.default_factory())
    if containers.is_built_in(type(table), "__setitem__"):
        perform((table, dict, How.WRITE, key), site, operator.setitem, table, key, value)
    else:
        table[key] = value
    return value


def _runs_code(factory: Any) -> bool:
    kind = type(factory)
    if kind in _C_FACTORIES:
        return False
    if kind is partial:
        return _runs_code(factory.func)
    if factory is Lock:  # it stands for C code
        return False
    if issubclass(kind, type):
        return any(
            type(find_in_class(factory, name)) in (FunctionType, staticmethod)
            for name in ("__init__", "__new__")
        )
    return True


def _make(
    table: defaultdict[Any, Any], how: How, key: Any, site: int, add: Callable[..., Any]
) -> Any:
    """Make a value by C code, and add it, as one access."""
    factory: Any = table.default_factory
    parts: list[containers.Part] = [(table, dict, how, key)]
    if type(factory) is not type:
        if type(factory) is FunctionHandle:
            factory = factory.function
        parts += _changed_by(factory)
        if type(factory) in BUILT_IN:
            factory = follow_clock(factory) or factory
    if session.current.ident != get_ident():
        return add(table, key, factory, receive)
    pending = containers.approach_all(parts, site)
    try:
        return add(table, key, factory, receive_published if pending else receive)
    finally:
        for access in pending:
            access.settle()


def _changed_by(factory: Any) -> list[containers.Part]:
    """Describe accesses to all that a factory of C code may change."""
    values: list[Any] = []
    while type(factory) is partial:
        values += [*factory.args, *factory.keywords.values()]
        factory = factory.func
    values.append(getattr(factory, "__self__", None))
    families = [(value, containers.family_of(type(value))) for value in values]
    touched = [(value, found, How.CHANGE, None) for value, found in families if found in METHODS]
    return [*touched, *opaque_parts(values)]


def _get_or_add(table: Any, key: Any, factory: Any, name: Callable[[Any], Any]) -> Any:
    value = dict.get(table, key, UNKNOWN)
    return _add(table, key, factory, name) if value is UNKNOWN else value


def _add(table: Any, key: Any, factory: Any, name: Callable[[Any], Any]) -> Any:
    value = table[key] = name(factory())
    return value
