"""What objects hold, read without running any code of the program.

The objects of a program are searched before its first run.  A proxy may do anything when it is
asked for an attribute or for its class, a list may define an iterator of its own, a module may load
others when a name is looked up; so nothing here asks an object.  The interpreter's own descriptors
are called, on what the type says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

_of_class: dict[str, Callable[[type], Any]] = {
    name: vars(type)[name].__get__
    for name in (
        *("__dict__", "__mro__", "__module__", "__name__", "__qualname__", "__bases__"),
        *("__flags__", "__basicsize__", "__dictoffset__", "__weakrefoffset__"),
    )
}
_of_module: Callable[[ModuleType], dict[str, Any] | None] = vars(ModuleType)["__dict__"].__get__

_ITERATORS: tuple[tuple[type, Callable[[Any], Iterator[Any]]], ...] = tuple(
    (kind, vars(kind)["__iter__"]) for kind in (list, tuple, deque, set, frozenset)
)


def is_module(thing: object) -> bool:
    """Whether something is a module; not everything in `sys.modules` is."""
    return issubclass(type(thing), ModuleType)


def names_in(module: ModuleType) -> dict[str, Any]:
    """Return the namespace of a module."""
    return _of_module(module) or {}


def names_in_class(kind: type) -> Mapping[str, Any]:
    """Return the namespace of a class; nothing of one that C code has not finished making."""
    found: Mapping[str, Any] | None = _of_class["__dict__"](kind)
    return found or {}


def ancestors(kind: type) -> tuple[type, ...]:
    """Return a class and its bases, in the order in which names are looked up."""
    found: tuple[type, ...] | None = _of_class["__mro__"](kind)
    return found or (kind,)


def find_in_class(kind: type, name: str, default: Any = None) -> Any:
    """Return what a class or one of its bases has under a name, as it stands there: neither a
    metaclass nor a descriptor is asked."""
    for base in ancestors(kind):
        names = names_in_class(base)
        if name in names:
            return names[name]
    return default


def has_in_class(kind: type, name: str) -> bool:
    """Tell whether a class or one of its bases has a name."""
    return any(name in names_in_class(base) for base in ancestors(kind))


def is_one_of(kind: type, kinds: Iterable[type]) -> bool:
    """Tell whether a class is among others, by identity: no `__eq__` of a metaclass is called."""
    for one in kinds:  # noqa: SIM110 - a generator takes longer
        if kind is one:
            return True
    return False


def field_of(kind: type, name: str) -> Any:
    """Return what the interpreter keeps of a type, such as its flags: `__flags__`."""
    return _of_class[name](kind)


WRAPPED: Final = "__wrapped__"
"""The attribute by which a wrapper gives what it stands for."""
_OWN_PACKAGE: Final = __name__.partition(".")[0]
_MACHINERY: Final = frozenset(
    {_OWN_PACKAGE, "_pytest", "pytest", "pluggy", "xdist", "execnet", "coverage", "pytest_cov"}
)
_IMMUTABLE: Final = 1 << 8
_HEAP: Final = 1 << 9
"""Flags of types in CPython."""
_OF_C: Final = (
    *(MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType),
    GetSetDescriptorType,
)


def is_of_c(kind: type) -> bool:
    """Whether a class is made by C code.

    Most are static, or cannot be changed.  One that C code makes at run time has methods, slots or
    a constructor of C code that belong to it and to no other class.
    """
    flags = field_of(kind, "__flags__")
    if flags & _IMMUTABLE or not flags & _HEAP:
        return True
    for name, value in list(names_in_class(kind).items()):
        if type(value) in _OF_C:
            if value.__objclass__ is kind and name not in ("__dict__", "__weakref__"):
                return True
        elif type(value) is BuiltinFunctionType and name == "__new__" and value.__self__ is kind:
            return True
    return False


def module_of(kind: type) -> str:
    """Return the name of the module of a class; empty where the class does not say."""
    try:
        found = _of_class["__module__"](kind)
    except AttributeError:
        return ""
    return found if type(found) is str else ""


def qualified_name(kind: type) -> str:
    found: str = _of_class["__qualname__"](kind)
    return found


def is_own(thing: Any) -> bool:
    """Whether an object is Mazurka's, to which programs come that go through all modules: what runs
    have taught must stay."""
    return _package_of(thing) == _OWN_PACKAGE


def is_machinery(thing: Any) -> bool:
    """Whether an object is Mazurka's, or belongs to what runs tests: that sets up and tears down by
    itself, and keeps count of what it has done."""
    return _package_of(thing) in _MACHINERY


def _package_of(thing: Any) -> str:
    """Return the package of a module, of a function, of a class, or of the class of an object."""
    kind = type(thing)
    if issubclass(kind, ModuleType):
        name = names_in(thing).get("__name__")
    elif kind is FunctionType:
        name = dict.get(thing.__globals__, "__name__")
    else:
        name = module_of(thing if issubclass(kind, type) else kind)
    return name.partition(".")[0] if type(name) is str else ""


def elements(values: Any) -> list[Any]:
    """Return the elements of a list, tuple, deque or set, whatever its class makes of iteration."""
    kind = type(values)
    for base, iterate in _ITERATORS:
        if issubclass(kind, base):
            return list(iterate(values))
    raise TypeError(f"no elements are known of a {qualified_name(kind)}")


def tuple_like(values: Any, elements: list[Any]) -> Any:
    """Make a tuple of the same class; None if the class is neither `tuple` nor a named one."""
    kind = type(values)
    if kind is not tuple and "_make" not in names_in_class(kind):
        return None
    return tuple.__new__(kind, elements)


def function_in(value: Any) -> Any:
    """Return the function of a static or class method."""
    kind = staticmethod if issubclass(type(value), staticmethod) else classmethod
    return vars(kind)["__func__"].__get__(value)


def entries(values: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the keys and values of a dictionary, whatever its class makes of them."""
    return list(dict.items(values))


def is_standing_for_another(kind: type) -> bool:
    """Tell whether C code passes on what is done with objects of a type, to what they stand for."""
    return any(WRAPPED in names_in_class(base) and is_of_c(base) for base in ancestors(kind))


def attributes(kind: type) -> Callable[[Any], Any] | None:
    """Return what gives the dictionary of an object of a class; None if objects have none.

    A class that has a `__dict__` of its own making, as proxies do, hides the true one.  Classes
    that mypyc makes keep it in a slot, which may be empty; then the result is None.
    """
    for ancestor in ancestors(kind):
        found = names_in_class(ancestor).get("__dict__")
        if found is not None:
            if type(found) is MemberDescriptorType:
                return _get_if_any(found)
            if type(names_in_class(ancestor).get(WRAPPED)) is GetSetDescriptorType:
                return None  # it gives that of what the proxy stands for, which a lazy one makes
            return found.__get__ if type(found) is GetSetDescriptorType else None
    return None


def _get_if_any(slot: Any) -> Callable[[Any], Any]:
    def get(thing: Any) -> Any:
        try:
            return slot.__get__(thing)
        except AttributeError:
            return None

    return get


def slots(kind: type) -> list[tuple[str, MemberDescriptorType]]:
    """Return the slots of a class, and where C objects hold what a program gave them."""
    return [
        (name, value)
        for ancestor in ancestors(kind)
        for name, value in names_in_class(ancestor).items()
        if type(value) is MemberDescriptorType and name != "__dict__"
    ]
