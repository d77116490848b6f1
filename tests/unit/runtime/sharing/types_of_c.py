"""Types of C code, as extension modules have them, made by the C interface of the interpreter: lazy
proxies, whose objects make what they stand for when they are first used, and descriptors that keep
what they give in a dictionary."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any, Final

_GET: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
_SET: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
_ITEM: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)
_LENGTH: Final = ctypes.PYFUNCTYPE(ctypes.c_ssize_t, ctypes.py_object)
_SLOTS: Final = {"length": 4, "item": 5, "get": 54, "members": 72, "getset": 73}
_OBJECT: Final = 16
"""Says that a member of an object is a reference, which may be missing."""
_WRAPPED: Final = object.__basicsize__
"""Where an object refers to what it stands for."""


class _Access(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in ("get", "set", "doc", "closure")),
    )


class _Member(ctypes.Structure):
    _fields_ = (
        *(("name", ctypes.c_char_p), ("sort", ctypes.c_int), ("offset", ctypes.c_ssize_t)),
        *(("flags", ctypes.c_int), ("doc", ctypes.c_char_p)),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("function", ctypes.c_void_p))


class _Specification(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_int) for name in ("size", "item_size")),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


def make_lazy_type(factory: Any, *, deletable: bool) -> Any:
    """Make a type whose objects stand for what a function makes, and may forget that."""
    uses: list[str] = []

    def wrapped(thing: Any, _: object = None) -> Any:
        uses.append("look")  # Python code stands for C code here, and has to show what it does
        try:
            return place.__get__(thing)
        except AttributeError:
            made = factory()
            uses.append("keep")
            place.__set__(thing, made)
            return made

    def forget(thing: Any, *_: object) -> int:
        place.__delete__(thing)
        return 0

    kept = (
        *(_GET(wrapped), _SET(forget)),
        _ITEM(lambda thing, key: wrapped(thing)[key]),
        _LENGTH(lambda thing: len(wrapped(thing))),
    )
    get, put, item, length = (ctypes.cast(one, ctypes.c_void_p).value for one in kept)
    accesses = (_Access * 2)(_Access(b"__wrapped__", get, put if deletable else None, None, None))
    members = (_Member * 2)(_Member(b"place", _OBJECT, _WRAPPED, 0, None))
    size = _WRAPPED + ctypes.sizeof(ctypes.c_void_p)
    tables = {"getset": ctypes.addressof(accesses), "members": ctypes.addressof(members)}
    kind = _make_type(b"lazy.Proxy", size, {"length": length, "item": item, **tables})
    _KEPT.append((kept, accesses, members))
    place = kind.place
    del kind.place  # as C code has it: nobody else finds what an object refers to
    return kind


def make_keeping_descriptor(space: dict[Any, Any]) -> Any:
    """Make a descriptor that gives the object whose attribute is read, and keeps it in a
    dictionary; no Python code runs meanwhile."""
    keep = _ITEM(partial(dict.setdefault, space))
    _KEPT.append(keep)
    get = ctypes.cast(keep, ctypes.c_void_p).value
    return _make_type(b"keeping.Descriptor", object.__basicsize__, {"get": get})()


def _make_type(name: bytes, size: int, functions: dict[str, int | None]) -> Any:
    slots = (_Slot * (len(functions) + 1))(
        *(_Slot(_SLOTS[slot], function) for slot, function in functions.items())
    )
    specification = _Specification(name, size, 0, 0, slots)
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype = ctypes.py_object
    _KEPT.append((slots, specification))
    return make(ctypes.byref(specification))


_KEPT: Final[list[Any]] = []
"""What the types refer to."""
