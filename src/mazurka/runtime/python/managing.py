"""`with` statements over objects of C code: files, views of buffers, connections.

C code enters and leaves them, and leaving one often does a lot: it closes a file, and writes what
was kept back.  Managers in Python are entered and left by code that is observed.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Any

from mazurka.runtime.core.insides import has_in_class, module_of
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.classes import changing, read_classes
from mazurka.runtime.python.iteration.loops import UNPACKING
from mazurka.runtime.python.methods import call_method
from mazurka.runtime.python.opaque import is_done_by_c

_by_c: dict[type, bool] = {}
"""By type: whether C code leaves objects of it."""


class ManagedObject:
    """Stands for an object of C code in a `with` statement: entering and leaving are calls."""

    __slots__ = ("_manager", "_site")

    def __init__(self, manager: Any, site: int) -> None:
        self._manager = manager
        self._site = site

    def __enter__(self) -> Any:
        return call_method(self._manager, "__enter__", self._site)()

    def __exit__(self, *error: Any) -> Any:
        return call_method(self._manager, "__exit__", self._site)(*error)


class UnpackedObject(ManagedObject):
    """Stands for an object in `with value as (a, b)`: what entering it gives is taken apart."""

    __slots__ = ("_depth",)

    def __init__(self, manager: Any, depth: int, site: int) -> None:
        super().__init__(manager, site)
        self._depth = depth

    def __enter__(self) -> Any:
        return UNPACKING[self._depth](super().__enter__(), self._site)


def manage_unpacked(value: Any, depth: int, site: int) -> Any:
    """Give what `with value as (a, b)` enters and leaves; `depth` is how deep it is taken apart."""
    kind = type(value)
    if session.current.ident != get_ident():
        return value
    if not (has_in_class(kind, "__enter__") and has_in_class(kind, "__exit__")):
        return value  # which is an error
    if changing.any:
        read_classes((value,), site)
    return UnpackedObject(value, depth, site)


class AsyncUnpackedObject:
    """Stands for an object in `async with value as (a, b)`."""

    __slots__ = ("_depth", "_manager", "_site")

    def __init__(self, manager: Any, depth: int, site: int) -> None:
        self._manager = manager
        self._depth = depth
        self._site = site

    async def __aenter__(self) -> Any:
        entered = await type(self._manager).__aenter__(self._manager)
        return UNPACKING[self._depth](entered, self._site)

    def __aexit__(self, *error: Any) -> Any:
        return type(self._manager).__aexit__(self._manager, *error)


def manage_async(value: Any, depth: int, site: int) -> Any:
    """Give what `async with value as (a, b)` enters and leaves."""
    kind = type(value)
    if session.current.ident != get_ident():
        return value
    if not (has_in_class(kind, "__aenter__") and has_in_class(kind, "__aexit__")):
        return value  # which is an error
    return AsyncUnpackedObject(value, depth, site)


def manage(value: Any, site: int) -> Any:
    """Give what a `with` statement enters and leaves: the value, or what stands for it."""
    if changing.any:
        read_classes((value,), site)
    kind = type(value)
    found = _by_c.get(kind)
    if found is None:
        found = is_done_by_c(kind, "__exit__") and module_of(kind) != "_thread"
        found = _by_c[kind] = found or kind is memoryview
    if not found or session.current.ident != get_ident():
        return value
    return ManagedObject(value, site)
