"""What the kernels need from the machine: memory at an address, the step function, the block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from mazurka.compiled.pointers import (
    Native,
    compiled,
    make_intrinsic,
    numbers_at,
    peek,
    peek_byte,
    poke,
    poke_byte,
    words_at,
)
from mazurka.stateful import blocks

__all__ = [
    "Machine", "Native", "block_at", "call_step", "choices_at", "compiled", "machine_in",
    "numbers_at", "peek", "peek_byte", "poke", "poke_byte", "prefetch", "words_at",
]  # fmt: skip


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
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return signature, generate


call_step = make_intrinsic(_call_step)
"""`call_step(step, src, thread, choice, dst, footprint)`: the step function at address `step`."""

prefetch = make_intrinsic(_prefetch)
"""`prefetch(address)`: start to bring that cache line in.

Not for writing: most lines are only looked at, and several workers may look at one at a time."""

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
