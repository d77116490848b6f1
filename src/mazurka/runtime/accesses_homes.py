"""Where an attribute lives: which object's location an attribute access touches.

The real lookup, read off the classes: data descriptors come first, then the object's own
dictionary, then the class.  What is computed (properties, `__getattr__`, methods) is a call and no
location; the code that is called is watched itself.  Functions that a class or a module holds are
taken to stay where they are.
"""

from __future__ import annotations

import _thread
import types
import weakref
from typing import Any, Final

NOWHERE: Final = object()
"""No location: a call, or something that does not change."""

_COMPUTED = (_thread._local, super, weakref.ProxyType, weakref.CallableProxyType)
"""Built-in types whose attributes are not kept in the object itself."""
_SETTLED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    staticmethod,
    classmethod,
    property,
    type,
)
_MISSING: Final = object()
_OWN, _MAYBE, _NONE = 1, 2, 3

_sorts: dict[tuple[type, str], tuple[int, Any]] = {}
"""By class and name: whether instances have it, may have it instead of a class, or never do; and
what then decides, the classes that are asked until one of them has it."""


def forget_classes() -> None:
    """Classes may have changed between runs."""
    _sorts.clear()


def _sort(kind: type, name: str) -> tuple[int, Any]:
    found = _sorts.get((kind, name))
    if found is None:
        found = _sorts[kind, name] = _find_sort(kind, name)
    return found


def _find_sort(kind: type, name: str) -> tuple[int, Any]:
    if isinstance(kind.__getattribute__, types.FunctionType) or issubclass(kind, _COMPUTED):
        return _NONE, NOWHERE
    asked = []
    for base in kind.__mro__:
        value = base.__dict__.get(name, _MISSING)
        asked.append(base)
        if value is _MISSING:
            continue
        if isinstance(value, types.MemberDescriptorType):
            return _OWN, NOWHERE
        sort = type(value)
        if hasattr(sort, "__set__") or hasattr(sort, "__delete__"):
            return _NONE, NOWHERE
        if hasattr(sort, "__get__") or isinstance(value, _SETTLED):
            return _MAYBE, NOWHERE
        return _MAYBE, tuple(asked)
    return _OWN, NOWHERE


def home_of(thing: Any, name: str) -> Any:
    """The object to which the attribute belongs that is about to be read; or NOWHERE.

    A tuple where it is found in a class because others that were asked first do not have it: all
    of them decide what is read.
    """
    kind = type(thing)
    if kind is types.ModuleType:
        value = thing.__dict__.get(name, _MISSING)
        return NOWHERE if isinstance(value, _SETTLED) else thing
    if isinstance(thing, type):
        return _home_in_class(thing, name)
    sort, classes = _sort(kind, name)
    if sort == _OWN:
        return thing
    if sort == _MAYBE:
        if name in getattr(thing, "__dict__", ()):
            return thing
        return NOWHERE if classes is NOWHERE else (thing, *classes)
    return NOWHERE


def _home_in_class(thing: type, name: str) -> Any:
    asked = []
    for base in thing.__mro__ or ():
        value = base.__dict__.get(name, _MISSING)
        asked.append(base)
        if value is not _MISSING:
            if isinstance(value, _SETTLED) or _is_slot(value):
                return NOWHERE
            return thing if base is thing else tuple(asked)
    return NOWHERE if hasattr(type(thing), name) else thing


def _is_slot(value: Any) -> bool:
    return isinstance(value, types.MemberDescriptorType)


def home_of_store(thing: Any, name: str) -> Any:
    """The object to which the attribute belongs that is about to be written; or NOWHERE."""
    kind = type(thing)
    if kind is types.ModuleType:
        return thing
    if isinstance(thing, type):
        _sorts.clear()
        return thing
    return NOWHERE if _sort(kind, name)[0] == _NONE else thing
