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
_make: Callable[[Native], Native] = intrinsic


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


def _point(element: Any) -> Native:
    """Make the function that turns an address into a pointer to elements.

    Pointers are compiled more quickly than arrays, and test for no negative index."""
    kind: Native = types.CPointer

    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], ir.IntType(element.bitwidth).as_pointer())

        return kind(element)(types.int64), generate

    return _make(at)


def _peek(element: Any, result: Any) -> Native:
    cell, word = ir.IntType(element.bitwidth), ir.IntType(64)

    def peek(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], cell.as_pointer())
            place = builder.gep(base, [arguments[1]], source_etype=cell)
            return builder.zext(builder.load(place, typ=cell), word)

        return result(types.int64, types.int64), generate

    return _make(peek)


def _poke(element: Any, value: Any) -> Native:
    cell = ir.IntType(element.bitwidth)

    def poke(typing_context: Any, address: Any, index: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], cell.as_pointer())
            place = builder.gep(base, [arguments[1]], source_etype=cell)
            builder.store(builder.trunc(arguments[2], cell), place)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, value), generate

    return _make(poke)


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

call_step = _make(_call_step)
"""`call_step(step, src, thread, choice, dst, footprint)`: the step function at address `step`."""

prefetch = _make(_prefetch)
"""`prefetch(address)`: start to bring that cache line in, for writing."""

block_at = numbers_at
"""`block_at(address)`: the block (`mazurka.stateful.blocks`) there."""


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
    hang_wanted: Any


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
        block[blocks.HANG_WANTED] != 0,
    )


@compiled
def choices_at(machine: Any, source: Any, thread: Any) -> Any:
    """How many choices a thread has in the state at address `source`."""
    word = peek(source, machine.counter_word[thread])
    code = (word >> machine.counter_shift[thread]) & machine.counter_mask[thread]
    return machine.choices[machine.choice_offset[thread] + np.int64(code)]
