"""Kernels as plain Python, for the time until their machine code is there, or instead of it.

A kernel's source is Python that Numba compiles.  `load_plain` executes the same source with
stand-ins for what it imports: numbers that wrap around as those of a processor do (`MachineWord`),
and memory at an address by ctypes.  Both forms of a kernel work on the same block, so a search can
begin with one and go on with the other, and finds the same in the same order.

Kernels that share words with other threads have no plain form: there is no atomic access here.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

from mazurka.ir.native.plain_step import plain_steps

MASK = (1 << 64) - 1
SIGN = 1 << 63
KERNELS = ".kernels"
STEP = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)


class NotPlainError(Exception):
    """A kernel uses something that has no plain form."""


class MachineWord(int):
    """An unsigned number of 64 bits; what does not fit is cut off."""

    __slots__ = ()

    def __add__(self, other: int) -> MachineWord:
        return _word(int.__add__(self, other) & MASK)

    def __sub__(self, other: int) -> MachineWord:
        return _word(int.__sub__(self, other) & MASK)

    def __mul__(self, other: int) -> MachineWord:
        return _word(int.__mul__(self, other) & MASK)

    def __and__(self, other: int) -> MachineWord:
        return _word(int.__and__(self, other) & MASK)

    def __or__(self, other: int) -> MachineWord:
        return _word(int.__or__(self, other) & MASK)

    def __xor__(self, other: int) -> MachineWord:
        return _word(int.__xor__(self, other) & MASK)

    def __lshift__(self, other: int) -> MachineWord:
        return _word(int.__lshift__(self, other) & MASK)

    def __rshift__(self, other: int) -> MachineWord:
        return _word(int.__rshift__(self, other))

    def __floordiv__(self, other: int) -> MachineWord:
        return _word(int.__floordiv__(self, other))

    def __mod__(self, other: int) -> MachineWord:
        return _word(int.__mod__(self, other))

    def __neg__(self) -> MachineWord:
        return _word(-int(self) & MASK)

    def __invert__(self) -> MachineWord:
        return _word(int.__xor__(self, MASK))

    __radd__, __rmul__ = __add__, __mul__
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


_word: Callable[[int], MachineWord] = functools.partial(int.__new__, MachineWord)


def make_word(value: int) -> MachineWord:
    """Convert a number as `np.uint64` does in compiled code."""
    return _word(value & MASK)


def make_number(value: int) -> int:
    """Convert a number as `np.int64` does in compiled code."""
    value = int(value) & MASK
    return value - (1 << 64) if value & SIGN else value


# -- memory ----------------------------------------------------------------------------------


def peek(address: int, index: int) -> MachineWord:
    return _word(ctypes.c_uint64.from_address(address + 8 * index).value)


def poke(address: int, index: int, value: int) -> None:
    ctypes.c_uint64.from_address(address + 8 * index).value = value


def peek_byte(address: int, index: int) -> int:
    return ctypes.c_uint8.from_address(address + index).value


def poke_byte(address: int, index: int, value: int) -> None:
    ctypes.c_uint8.from_address(address + index).value = value


class MachineWords:
    """Unsigned words from an address on."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __getitem__(self, index: int) -> MachineWord:
        return peek(self.address, index)

    def __setitem__(self, index: int, value: int) -> None:
        poke(self.address, index, value)


def _point(element: Any) -> Callable[[int], Any]:
    pointer = ctypes.POINTER(element)
    return lambda address: ctypes.cast(address, pointer)


# -- what kernels have LLVM do ---------------------------------------------------------------

_function_at = functools.lru_cache(maxsize=64)(STEP)


def call_step(step: int, src: int, thread: int, choice: int, dst: int, footprint: int) -> Any:
    function = plain_steps[step] if step < 0 else _function_at(step)
    return function(src, thread, choice, dst, footprint)


def prefetch(address: int) -> None:
    pass


INTRINSICS: dict[str, Callable[..., Any]] = {"_call_step": call_step, "_prefetch": prefetch}


def make_intrinsic(generator: Callable[..., Any]) -> Callable[..., Any]:
    """Return the plain form of an intrinsic; `generator` generates its machine code."""
    found = INTRINSICS.get(generator.__name__)
    if found is None:
        raise NotPlainError(generator.__name__)
    return found


STAND_INS: dict[str, Any] = {
    "numpy": SimpleNamespace(uint64=make_word, int64=make_number),
    "mazurka.compiled.pointers": SimpleNamespace(
        Native=Callable,
        compiled=lambda function: function,
        make_intrinsic=make_intrinsic,
        peek=peek,
        poke=poke,
        peek_byte=peek_byte,
        poke_byte=poke_byte,
        numbers_at=_point(ctypes.c_int64),
        words_at=MachineWords,
        halves_at=_point(ctypes.c_int32),
        bytes_at=_point(ctypes.c_uint8),
    ),
    "llvmlite": SimpleNamespace(ir=None),
    "numba": SimpleNamespace(types=None),
    "numba.core": SimpleNamespace(cgutils=None),
}
"""What kernels get where they import one of these modules."""

# -- loading ---------------------------------------------------------------------------------


def load_plain(module: str) -> Callable[[int], int] | None:
    """Return `run` of a kernel's module as plain Python; None if it has no plain form."""
    try:
        run: Callable[[int], int] = load_module(module).run
    except NotPlainError:
        return None
    return run


@functools.cache
def load_module(name: str) -> ModuleType:
    """Execute a module of kernels once more, with stand-ins for its imports."""
    spec = find_spec(name)
    loader: Any = None if spec is None else spec.loader
    module = ModuleType(name)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
    exec(loader.get_code(name), module.__dict__)
    return module


def _import(name: str, *where: Any) -> Any:
    if name in STAND_INS:
        return STAND_INS[name]
    if name.startswith("mazurka.") and KERNELS in name:
        return load_module(name)
    return __import__(name, *where)
