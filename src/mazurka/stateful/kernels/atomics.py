"""Words that several workers read and write at the same time.

On such words every access is atomic for LLVM, so that it neither tears nor moves them.  What a
worker has written before `publish` is seen by every worker that gets what was published from
`load_shared`, or from `look_at` and calls `see_published` then.  The latter is cheaper where few of
many words are of interest: on a GPU, whoever is to see what others have written has to give up what
it has in its cache.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from mazurka.compiled.compiler import GIVE_WAY
from mazurka.compiled.pointers import Native, make_intrinsic

WORD = ir.IntType(64)


def _place(builder: Any, arguments: Any) -> Any:
    base = builder.inttoptr(arguments[0], WORD.as_pointer())
    return builder.gep(base, [arguments[1]], source_etype=WORD)


def _load_shared(typing_context: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(builder, arguments), "acquire", 8, typ=WORD)

    return types.uint64(types.int64, types.int64), generate


def _look_at(typing_context: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(builder, arguments), "monotonic", 8, typ=WORD)

    return types.uint64(types.int64, types.int64), generate


def _see_published(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        builder.fence("acquire")
        return context.get_dummy_value()

    return types.void(), generate


def _publish(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _place(builder, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint64), generate


def _compare_and_swap(
    typing_context: Any, address: Any, index: Any, expected: Any, value: Any
) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        place = _place(builder, arguments)
        pair = builder.cmpxchg(place, arguments[2], arguments[3], "monotonic", "monotonic")
        return builder.extract_value(pair, 0)

    return types.uint64(types.int64, types.int64, types.uint64, types.uint64), generate


def _fetch_and_add(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _place(builder, arguments), arguments[2], "monotonic")

    return types.uint64(types.int64, types.int64, types.uint64), generate


def _arrive(typing_context: Any, address: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _place(builder, arguments), WORD(1), "acq_rel")

    return types.uint64(types.int64, types.int64), generate


def _give_way(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        insert: Native = cgutils.get_or_insert_function
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(insert(builder.module, kind, GIVE_WAY), [])
        return context.get_dummy_value()

    return types.void(), generate


load_shared = make_intrinsic(_load_shared)
"""`load_shared(address, index)`: the word there, with all that was written before it."""

look_at = make_intrinsic(_look_at)
"""`look_at(address, index)`: the word there, and nothing else."""

see_published = make_intrinsic(_see_published)
"""`see_published()`: see all that was written before the words that were looked at."""

publish = make_intrinsic(_publish)
"""`publish(address, index, value)`: store a word there, behind all that was written before."""

compare_and_swap = make_intrinsic(_compare_and_swap)
"""`compare_and_swap(address, index, expected, value)`: store `value` there if `expected` is there;
what was there, as by `look_at`."""

fetch_and_add = make_intrinsic(_fetch_and_add)
"""`fetch_and_add(address, index, value)`: add to the word there; what was there."""

arrive = make_intrinsic(_arrive)
"""`arrive(address, index)`: add 1 to the word there; what was there, with all that those who came
before have written."""

give_way = make_intrinsic(_give_way)
"""`give_way()`: let another thread of this machine have the processor."""
