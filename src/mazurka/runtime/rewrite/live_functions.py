"""Finds functions wherever they are held: in classes, behind decorators, in closures, by others."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from mazurka.runtime.core.patches import is_frozen
from mazurka.runtime.python.catalogue import CachedFunction

FEW = 8
"""Namespaces whose functions are looked for all at once."""


def find_functions(spaces: Sequence[dict[str, Any]]) -> list[FunctionType]:
    """Find the functions that have one of these namespaces.

    A function refers to its namespace, and the interpreter finds all that refer to a few objects
    in half the time that it takes to look at everything here.
    """
    wanted = set(map(id, spaces))
    few = len(spaces) <= FEW
    found = _thaw(lambda: gc.get_referrers(*spaces)) if few else _thaw(gc.get_objects)
    return [one for one in found if type(one) is FunctionType and id(one.__globals__) in wanted]


def find_cached_functions() -> set[int]:
    """Find the functions that have caches of `functools`, and give their identities."""
    caches = [one for one in _thaw(gc.get_objects) if type(one) is CachedFunction]
    return {id(vars(cache).get("__wrapped__")) for cache in caches}


def _thaw(find: Callable[[], list[Any]]) -> list[Any]:
    """Search among all objects, also those that a program has put aside."""
    frozen = is_frozen()
    if frozen:
        gc.unfreeze()
    try:
        return find()
    finally:
        if frozen:
            gc.freeze()
