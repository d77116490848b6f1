"""Types whose objects are values: nobody can change them."""

from __future__ import annotations

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

PLAIN: Final = frozenset(
    {
        *(int, float, complex, str, bytes, bool, type(None), type(...), tuple, frozenset, range),
        *(slice, type, FunctionType, BuiltinFunctionType, MethodType, ModuleType, property),
        *(type(NotImplemented), MethodDescriptorType, WrapperDescriptorType, MethodWrapperType),
        *(object, staticmethod, classmethod, super),
    }
)
"""Types whose objects do not change, or that others watch."""
VALUES: Final = frozenset({"re", "datetime", "decimal", "_struct", "types", "typing", "operator"})
"""Modules of C types whose objects are values."""
