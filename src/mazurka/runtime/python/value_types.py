"""Types whose objects are values: nobody can change them."""

from __future__ import annotations

from array import array
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Final

OF_CLASS: Final[type] = type(array("b").extend)
"""The type of those bound methods of C code that are told the class that has them."""
BUILT_IN: Final[frozenset[type]] = frozenset({BuiltinFunctionType, OF_CLASS})
PLAIN: Final = frozenset(
    {
        *(int, float, complex, str, bytes, bool, type(None), type(...), tuple, frozenset, range),
        *(slice, type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, property),
        *(type(NotImplemented), MethodDescriptorType, WrapperDescriptorType, MethodWrapperType),
        *(object, staticmethod, classmethod, super, OF_CLASS),
    }
)
"""Types whose objects do not change, or that others watch."""
VALUES: Final = frozenset({"re", "datetime", "decimal", "_struct", "types", "typing", "operator"})
"""Modules of C types whose objects are values."""


def is_value(kind: type) -> bool:
    """Whether nobody can change objects of that type, or others watch them."""
    return kind in PLAIN or (kind.__module__ in VALUES and kind.__name__ not in _CHANGING)


_CHANGING: Final = frozenset({"Context", "SimpleNamespace"})
"""Types of those modules that are not: `decimal.Context`."""
