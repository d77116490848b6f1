"""The few machine-level operations the compiled searches need, and the way they are compiled.

Searches are Numba functions, compiled on their first call and kept in Numba's cache on disk.
They call a program's step function through its address and hand it plain addresses: passing
arrays through a function pointer costs three times as much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

Native: TypeAlias = Callable[..., Any]


def compiled(function: Native) -> Native:
    """A search loop or a part of one: native, without the interpreter lock, cached on disk."""
    result: Native = njit(cache=True, nogil=True, error_model="numpy")(function)
    return result


def _call_step(
    typing_context: Any, step: Any, src: Any, thread: Any, choice: Any, dst: Any, footprint: Any
) -> Any:
    signature = types.int64(*([types.int64] * 6))

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(word, [word] * 5)
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        return builder.call(pointer, arguments[1:])

    return signature, generate


def _prefetch(typing_context: Any, address: Any) -> Any:
    signature = types.void(types.int64)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        insert_function: Native = cgutils.get_or_insert_function
        function = insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
            "llvm.prefetch.p0",
        )
        pointer = builder.inttoptr(arguments[0], byte)
        builder.call(function, [pointer, number(1), number(1), number(1)])
        return context.get_dummy_value()

    return signature, generate


call_step: Native = intrinsic(_call_step)
"""`call_step(step, src, thread, choice, dst, footprint)`: the step function at address `step`."""

prefetch: Native = intrinsic(_prefetch)
"""`prefetch(address)`: start to bring that cache line in, for writing."""


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Where an array's data lie; the array must be kept alive by its owner."""
    return int(array.ctypes.data)
