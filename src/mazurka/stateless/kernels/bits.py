"""Sets of bits in unsigned words: counting their elements, and the largest of them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from mazurka.compiled.pointers import make_intrinsic


def _count(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _last(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.uint64), generate


count_bits = make_intrinsic(_count)
"""`count_bits(word)`: how many bits of a word are set."""

last_bit = make_intrinsic(_last)
"""`last_bit(word)`: the number of the highest bit that is set; -1 if there is none."""
