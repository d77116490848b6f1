"""Whether classes have changed, by the number that CPython gives to each version of a class.

The interpreter numbers classes for its own caches.  Whoever changes a class, or one of its bases,
in whatever way, takes the number away; the next lookup gives it a new one, which no version of any
class has had.  So what has been found out about a class holds for as long as it has the same
number.  A class without a number may have changed.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final

from mazurka.runtime.core.insides import field_of, is_module, module_of, names_in, qualified_name

_PLACE: Final = object.__basicsize__ + 46 * ctypes.sizeof(ctypes.c_void_p)
"""Where a type in CPython holds its number: `tp_version_tag`."""
_HEAP: Final = 1 << 9
"""A flag of types in CPython: made at run time."""
UNKNOWN: Final = 0
FIXED: Final = -1
"""The version of a class that cannot be changed, and never goes."""


def version_of(kind: type) -> int:
    """Return the version of a class; `UNKNOWN` if it has none, or if numbers mean nothing here."""
    flags = field_of(kind, "__flags__")
    if not flags & _HEAP:
        return FIXED
    return _number_of(kind) if _numbers_tell else UNKNOWN


def is_same(kind: type, version: int) -> bool:
    """Tell whether a class has not changed since it had a version, and is there without us: its
    module has it under its name.  One that a run has made is not to be kept alive."""
    if version == FIXED:
        return True
    if version == UNKNOWN or _number_of(kind) != version:
        return False
    module = sys.modules.get(module_of(kind))
    if module is None or not is_module(module):
        return False
    return names_in(module).get(qualified_name(kind)) is kind


def _number_of(kind: type) -> int:
    return ctypes.c_uint.from_address(id(kind) + _PLACE).value


def _do_numbers_tell() -> bool:
    """Tell whether this interpreter keeps numbers where they are looked for."""

    class Base:
        value = 1

    class Derived(Base):
        pass

    numbers = []
    for value in range(3):
        Base.value = value
        changed = _number_of(Derived)
        assert Derived().value == value
        numbers += [changed, _number_of(Derived), _number_of(Derived)]
    taken, given, kept = numbers[0::3], numbers[1::3], numbers[2::3]
    return not any(taken) and given == kept and all(given) and len(set(given)) == len(given)


_numbers_tell: Final = sys.implementation.name == "cpython" and _do_numbers_tell()
