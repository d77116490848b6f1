"""A lazy proxy of C code, as extension modules have them: a type that is made by the C interface of
the interpreter, whose objects make what they stand for when they are first used."""

from __future__ import annotations

import ctypes
from typing import Any, Final

_GET: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
_SET: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
_ITEM: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)
_LENGTH: Final = ctypes.PYFUNCTYPE(ctypes.c_ssize_t, ctypes.py_object)
_SLOTS: Final = {"length": 4, "item": 5, "members": 72, "getset": 73}
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
    slots = (_Slot * 5)(
        _Slot(_SLOTS["length"], length),
        _Slot(_SLOTS["item"], item),
        _Slot(_SLOTS["getset"], ctypes.addressof(accesses)),
        _Slot(_SLOTS["members"], ctypes.addressof(members)),
    )
    size = _WRAPPED + ctypes.sizeof(ctypes.c_void_p)
    specification = _Specification(b"lazy.Proxy", size, 0, 0, slots)
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype = ctypes.py_object
    kind = make(ctypes.byref(specification))
    _KEPT.append((kept, accesses, members, slots, specification))
    place = kind.place
    del kind.place  # as C code has it: nobody else finds what an object refers to
    return kind


_KEPT: Final[list[Any]] = []
"""What the types refer to."""
