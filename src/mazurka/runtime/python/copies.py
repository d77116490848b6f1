"""Objects that C code takes apart to copy them: `copy.copy` asks `object.__reduce_ex__`.

That reads the slots of an object at once.  What its dictionary holds is read when the copy is
filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from mazurka.runtime.core.insides import slots
from mazurka.runtime.python.deep import perform_deep

TAKES_APART: Final = frozenset({"__reduce_ex__", "__reduce__", "__getstate__"})


def taking_apart(function: Any, site: int, /, thing: Any, *arguments: Any) -> Any:
    """`object.__reduce_ex__(thing, 4)`"""
    return _reading(thing, site, partial(function, thing, *arguments))


def bound_taking_apart(function: Any, site: int, /, *arguments: Any) -> Any:
    """`thing.__reduce_ex__(4)`"""
    return _reading(function.__self__, site, partial(function, *arguments))


def _reading(thing: Any, site: int, action: Any) -> Any:
    kind = type(thing)
    names = [name for name, _ in slots(kind)]
    if not names or not all(_is_built_in(kind, part) for part in ("__reduce__", "__getstate__")):
        return action()  # its own code says what is read, and is watched

    def asked(value: Any) -> Sequence[str]:
        return names if value is thing else ()

    return perform_deep((thing,), site, action, attributes=asked)


def _is_built_in(kind: type, name: str) -> bool:
    return getattr(kind, name, None) is getattr(object, name, None)
