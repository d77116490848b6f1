"""What a `defaultdict` calls for a key that is not there.

Code of the program runs between looking the key up and adding it.  C code (`list`, a counter's
`__next__`) is part of the one access that the subscript is, with all that it may change.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from types import FunctionType, MethodWrapperType
from typing import Any, Final

from mazurka.runtime.python.containers import UNKNOWN, Part, family_of, perform_all
from mazurka.runtime.python.dates import of_clock
from mazurka.runtime.python.handles import Held
from mazurka.runtime.python.methods import METHODS
from mazurka.runtime.python.opaque import opaque_parts
from mazurka.runtime.python.value_types import BUILT_IN
from mazurka.runtime.sharing.accesses import How

_OF_C: Final = frozenset({*BUILT_IN, MethodWrapperType, Held, type(None)})


def runs_code_for_new(table: Any) -> bool:
    """Whether code of the program runs when a key is not in a dictionary."""
    if isinstance(getattr(type(table), "__missing__", None), FunctionType):
        return True
    return isinstance(table, defaultdict) and _runs_code(table.default_factory)


def _runs_code(factory: Any) -> bool:
    kind = type(factory)
    if kind in _OF_C:
        return False
    if kind is partial:
        return _runs_code(factory.func)
    if issubclass(kind, type):
        return any(type(getattr(factory, name)) is FunctionType for name in ("__init__", "__new__"))
    return True


def item_or_made(table: defaultdict[Any, Any], key: Any, site: int) -> Any:
    """`table[key]`, with a value that C code makes where there is none."""
    factory: Any = table.default_factory
    parts: list[Part] = [(table, dict, How.ENSURE, key)]
    if type(factory) is not type:
        if type(factory) is Held:
            factory = factory._method
        parts += _changed_by(factory)
        if type(factory) in BUILT_IN:
            factory = of_clock(factory) or factory
    return perform_all(parts, site, _get_or_add, table, key, factory)


def _changed_by(factory: Any) -> list[Part]:
    """What a function of C may change: what it is a method of, and what it is given."""
    values: list[Any] = []
    while type(factory) is partial:
        values += [*factory.args, *factory.keywords.values()]
        factory = factory.func
    values.append(getattr(factory, "__self__", None))
    families = [(value, family_of(type(value))) for value in values]
    touched = [(value, found, How.CHANGE, None) for value, found in families if found in METHODS]
    return [*touched, *opaque_parts(values)]


def _get_or_add(table: Any, key: Any, factory: Any) -> Any:
    value = dict.get(table, key, UNKNOWN)
    if value is UNKNOWN:
        value = factory()
        table[key] = value
    return value
