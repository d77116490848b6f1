"""What every kernel needs: functions in native code, and memory at an address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

Native: TypeAlias = Callable[..., Any]
make_intrinsic: Callable[[Native], Native] = intrinsic


def compiled(function: Native) -> Native:
    """A part of a kernel: native code, compiled together with the kernel that uses it.

    Python calls none of them, so they need no wrappers, which take long to compile."""
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    result: Native = njit(nogil=True, error_model="numpy", **bare)(function)
    return result


def _point(element: Any) -> Native:
    """Make the function that turns an address into a pointer to elements.

    Pointers are compiled more quickly than arrays, and test for no negative index."""
    kind: Native = types.CPointer

    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], ir.IntType(element.bitwidth).as_pointer())

        return kind(element)(types.int64), generate

    return make_intrinsic(at)


def _peek(element: Any, result: Any) -> Native:
    cell, word = ir.IntType(element.bitwidth), ir.IntType(64)

    def peek(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], cell.as_pointer())
            place = builder.gep(base, [arguments[1]], source_etype=cell)
            return builder.zext(builder.load(place, typ=cell), word)

        return result(types.int64, types.int64), generate

    return make_intrinsic(peek)


def _poke(element: Any, value: Any) -> Native:
    cell = ir.IntType(element.bitwidth)

    def poke(typing_context: Any, address: Any, index: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], cell.as_pointer())
            place = builder.gep(base, [arguments[1]], source_etype=cell)
            builder.store(builder.trunc(arguments[2], cell), place)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, value), generate

    return make_intrinsic(poke)


peek = _peek(types.uint64, types.uint64)
"""`peek(address, index)`: the word there."""

poke = _poke(types.uint64, types.uint64)
"""`poke(address, index, value)`: store a word there."""

peek_byte = _peek(types.uint8, types.int64)
"""`peek_byte(address, index)`: the byte there, as a number."""

poke_byte = _poke(types.uint8, types.int64)
"""`poke_byte(address, index, value)`: store the low byte of a number there."""

numbers_at = _point(types.int64)
"""`numbers_at(address)`: the signed words from there on."""

words_at = _point(types.uint64)
"""`words_at(address)`: the unsigned words from there on."""

halves_at = _point(types.int32)
"""`halves_at(address)`: the signed numbers of 32 bits from there on."""

bytes_at = _point(types.uint8)
"""`bytes_at(address)`: the bytes from there on."""
