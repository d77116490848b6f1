"""Calls of C code: what it is given, and what it keeps, may be changed by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.accesses_containers import perform_all
from mazurka.runtime.accesses_expressions import parts_of
from mazurka.runtime.accesses_opaque import opaque_parts, part_of_opaque
from mazurka.runtime.accesses_operations import How
from mazurka.runtime.accesses_searching import note_comparisons
from mazurka.runtime.sharing import progress


def foreign(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A C function of some module, which may change whatever it is given."""
    note_comparisons(function, arguments, site)
    values = (*arguments, *named.values())
    how = How.READ_ALL if _only_reads(function) else How.CHANGE
    parts = [*parts_of(values, how), *opaque_parts(values)]
    return perform_all(parts, site, function, *arguments, **named)


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
    values = (*arguments, *named.values())
    parts = [part_of_opaque(owner), *parts_of(values), *opaque_parts(values)]
    return perform_all(parts, site, function, *arguments, **named)
