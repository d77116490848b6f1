"""Calls of C code: what it is given, and what it keeps, may be changed by it."""

from __future__ import annotations

from collections.abc import Callable
from types import GeneratorType
from typing import Any, Final

from mazurka.runtime.core.moment import now
from mazurka.runtime.python.containers import perform_all
from mazurka.runtime.python.expressions import parts_of
from mazurka.runtime.python.opaque import opaque_parts, part_of_opaque
from mazurka.runtime.python.searching import note_comparisons
from mazurka.runtime.python.turns import going_through, runs_code, stepped
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import points, progress
from mazurka.runtime.sharing.monitoring import unobserved


def foreign(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A C function of some module, which may change whatever it is given."""
    note_comparisons(function, arguments, site)
    through = _goes_through(function)
    if through:
        arguments = stepped(arguments, site)
    values = (*arguments, *named.values())
    how = How.READ_ALL if _only_reads(function) else How.CHANGE
    parts = [*parts_of(values, how), *opaque_parts(values)]
    if through and any(map(runs_code, arguments)):
        return going_through(parts, site, function, arguments, named)
    _note_generators(function, values, site)
    return perform_all(parts, site, function, *arguments, **named)


def _goes_through(function: Any) -> bool:
    """Whether a C function goes through iterators that it is given, and keeps none."""
    module, name = getattr(function, "__module__", None), function.__name__
    return module in ("math", "_functools", "_statistics") or (
        module == "_operator" and name in ("countOf", "indexOf", "contains", "iadd", "iconcat")
    )


def _note_generators(function: Any, values: Any, site: int) -> None:
    """Nobody knows what becomes of a generator in C code: name it where others use it."""
    if site in points and not now.alone and any(type(value) is GeneratorType for value in values):
        unobserved.note(f"a generator inside of {function.__qualname__}")


_READERS: Final = frozenset(
    {"builtins", "math", "cmath", "time", "itertools", "_functools", "_bisect", "_json", "sys"}
)
"""Modules whose C functions change no container that they are given."""


def _only_reads(function: Any) -> bool:
    module, name = getattr(function, "__module__", None), function.__name__
    if module == "_operator":
        return not (name in ("setitem", "delitem", "call") or name.startswith("i"))
    return module in _READERS


def moved(function: Any, site: int, owner: Any, /, *arguments: Any, **named: Any) -> Any:
    """A method of an object whose state nobody sees: it may change it."""
    progress()
    through = function.__name__ in _WRITES_LINES
    if through:
        arguments = stepped(arguments, site)
    values = (*arguments, *named.values())
    parts = [part_of_opaque(owner), *parts_of(values), *opaque_parts(values)]
    if through and any(map(runs_code, arguments)):
        return going_through(parts, site, function, arguments, named)
    _note_generators(function, values, site)
    return perform_all(parts, site, function, *arguments, **named)


_WRITES_LINES: Final = frozenset({"writelines", "writerows"})
"""Methods that go through what they are given, line by line."""
