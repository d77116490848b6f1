"""Memory that objects of `ctypes` share: a structure and its fields, a buffer under two names.

An object of `ctypes` may have no memory of its own.  A field that is an array lies in its structure
(`_b_base_`), what `from_buffer` makes lies in a `bytearray` or an array, which it keeps as a
`memoryview`.  All of them are one location, that of the object whose memory it is.

A pointer leads anywhere, and so does what has been made of an address, or a foreign function that
is given one.  Each use of such an object changes one more location, which stands for all memory,
and which every other use of an object of `ctypes` reads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Final

from mazurka.runtime.python.containers import C_DATA, Part, part_of, root_in_memory
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.places import SharedPlace, meet_place

_ANYWHERE: Final = SharedPlace("memory that ctypes reaches by addresses")
_POINTER: Final[Any] = vars(ctypes)["_Pointer"]
_FUNCTION: Final[Any] = vars(ctypes)["_CFuncPtr"]


def memory_parts(thing: Any, how: How) -> list[Part] | None:
    """Describe what a use of an object of `ctypes` touches; None for other objects."""
    if not issubclass(type(thing), C_DATA):
        return None
    root = root_in_memory(thing)
    views = list(_views_in(root._objects))
    parts: list[Part] = [(root, None, how, None)]
    parts += [part for view in views if (part := part_of(view, how)) is not None]
    is_known = root._b_needsfree_ or views
    leads_anywhere = issubclass(type(root), (_POINTER, _FUNCTION)) or not is_known
    parts.append((meet_place(_ANYWHERE), None, _how_anywhere(leads_anywhere), None))
    return parts


def _how_anywhere(leads_anywhere: bool) -> How:
    return How.CHANGE if leads_anywhere else How.READ_ALL


def _views_in(kept: Any) -> Iterator[memoryview]:
    """Find the views of buffers among what an object keeps alive."""
    if type(kept) is memoryview:
        yield kept
    elif type(kept) is dict:
        for value in kept.values():
            yield from _views_in(value)
    elif type(kept) is tuple:
        for value in kept:
            yield from _views_in(value)
