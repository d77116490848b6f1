"""What the kernels need from the machine: memory at an address, the step function, the block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from mazurka.stateful import blocks

Native: TypeAlias = Callable[..., Any]


def compiled(function: Native) -> Native:
    """A part of a kernel: native code, compiled together with the kernel that uses it.

    Python calls none of them, so they need no wrappers, which take long to compile."""
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    result: Native = njit(nogil=True, error_model="numpy", **bare)(function)
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


def _numbers_at(typing_context: Any, address: Any) -> Any:
    return _pointer(types.int64)


def _words_at(typing_context: Any, address: Any) -> Any:
    return _pointer(types.uint64)


def _pointer(element: Any) -> Any:
    kind: Native = types.CPointer
    signature = kind(element)(types.int64)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())

    return signature, generate


def _peek(typing_context: Any, address: Any, index: Any) -> Any:
    signature = types.uint64(types.int64, types.int64)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        base = builder.inttoptr(arguments[0], word.as_pointer())
        return builder.load(builder.gep(base, [arguments[1]], source_etype=word), typ=word)

    return signature, generate


def _poke(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    signature = types.void(types.int64, types.int64, types.uint64)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        base = builder.inttoptr(arguments[0], word.as_pointer())
        builder.store(arguments[2], builder.gep(base, [arguments[1]], source_etype=word))
        return context.get_dummy_value()

    return signature, generate


def _peek_byte(typing_context: Any, address: Any, index: Any) -> Any:
    signature = types.int64(types.int64, types.int64)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        byte = ir.IntType(8)
        base = builder.inttoptr(arguments[0], byte.as_pointer())
        place = builder.gep(base, [arguments[1]], source_etype=byte)
        return builder.zext(builder.load(place, typ=byte), ir.IntType(64))

    return signature, generate


def _poke_byte(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    signature = types.void(types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        byte = ir.IntType(8)
        base = builder.inttoptr(arguments[0], byte.as_pointer())
        place = builder.gep(base, [arguments[1]], source_etype=byte)
        builder.store(builder.trunc(arguments[2], byte), place)
        return context.get_dummy_value()

    return signature, generate


peek: Native = intrinsic(_peek)
"""`peek(address, index)`: the word there; an array would test for negative indexes each time."""

poke: Native = intrinsic(_poke)
"""`poke(address, index, value)`: store a word there."""

peek_byte: Native = intrinsic(_peek_byte)
"""`peek_byte(address, index)`: the byte there, as a number."""

poke_byte: Native = intrinsic(_poke_byte)
"""`poke_byte(address, index, value)`: store the low byte of a number there."""

call_step: Native = intrinsic(_call_step)
"""`call_step(step, src, thread, choice, dst, footprint)`: the step function at address `step`."""

prefetch: Native = intrinsic(_prefetch)
"""`prefetch(address)`: start to bring that cache line in, for writing."""

numbers_at: Native = intrinsic(_numbers_at)
"""`numbers_at(address)`: the signed words from there on.  They are a pointer, compiled more
quickly than an array and tests for no negative index."""

words_at: Native = intrinsic(_words_at)
"""`words_at(address)`: the unsigned words from there on."""


@compiled
def block_at(address: Any) -> Any:
    return numbers_at(address)


class Machine(NamedTuple):
    """The program, as the kernels see it (`mazurka.stateful.blocks` explains the fields)."""

    step: Any
    recording_step: Any
    words: Any
    threads: Any
    counter_word: Any
    counter_shift: Any
    counter_mask: Any
    choice_offset: Any
    choices: Any
    most_choices: Any
    observers: Any
    any_choice: Any
    faults_wanted: Any
    deadlock_wanted: Any
    race_wanted: Any


@compiled
def machine_in(block: Any) -> Any:
    threads = block[blocks.THREADS]
    return Machine(
        block[blocks.STEP],
        block[blocks.RECORDING_STEP],
        block[blocks.WORDS],
        threads,
        numbers_at(block[blocks.COUNTER_WORD]),
        words_at(block[blocks.COUNTER_SHIFT]),
        words_at(block[blocks.COUNTER_MASK]),
        numbers_at(block[blocks.CHOICE_OFFSET]),
        numbers_at(block[blocks.CHOICES]),
        numbers_at(block[blocks.MOST_CHOICES]),
        numbers_at(block[blocks.OBSERVERS]),
        block[blocks.ANY_CHOICE] != 0,
        block[blocks.FAULTS_WANTED],
        block[blocks.DEADLOCK_WANTED] != 0,
        block[blocks.RACE_WANTED] != 0,
    )


@compiled
def choices_at(machine: Any, source: Any, thread: Any) -> Any:
    """How many choices a thread has in the state at address `source`."""
    word = peek(source, machine.counter_word[thread])
    code = (word >> machine.counter_shift[thread]) & machine.counter_mask[thread]
    return machine.choices[machine.choice_offset[thread] + np.int64(code)]
