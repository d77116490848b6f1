"""Compile LLVM assembly to machine code, and load it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from mazurka.deadline import TimeLimitError, check_time, seconds_left
from mazurka.processes import PIPE, TimeoutExpired, python, run


@dataclass(frozen=True)
class NativeStep:
    """Compiled code; the address is valid only while this object is alive."""

    engine: Any
    address: int


def compile_assembly(text: str, *, speed: int) -> NativeStep:
    """Compile in this process; nothing can interrupt LLVM."""
    return load_object(emit_object(text, speed=speed), speed=speed)


def load_object(code: bytes, *, speed: int) -> NativeStep:
    """Load object code, and keep it as long as the result is there."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), make_machine(speed))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return NativeStep(engine, engine.get_function_address("step"))


def compile_within_limit(text: str, *, speed: int) -> NativeStep:
    """Compile in another process, which is stopped where the time limit comes first."""
    check_time("compiling the model")
    command = python("mazurka.ir.native.machine_code:emit_in_child", str(speed))
    try:
        done = run(command, given=text.encode(), stdout=PIPE, seconds=seconds_left())
    except TimeoutExpired:
        raise TimeLimitError("the time limit was reached while compiling the model") from None
    except OSError:  # there may be no other processes here
        return compile_assembly(text, speed=speed)
    if done.returncode:
        return compile_assembly(text, speed=speed)
    return load_object(done.stdout, speed=speed)


def emit_in_child(speed: str) -> None:
    """What the other process runs: assembly in, object code out."""
    text = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(emit_object(text, speed=int(speed)))


def emit_object(text: str, *, speed: int) -> bytes:
    """Compile to object code.

    LLVM keeps constants and types as long as their context, so a context is made for each text."""
    machine = make_machine(speed)
    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        optimize(module, machine, speed=speed)
        code: bytes = machine.emit_object(module)
        return code


def make_machine(speed: int) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=speed,
        jit=True,
    )


def optimize(module: Any, machine: Any, *, speed: int) -> None:
    """Verify a module and optimize it for a machine."""
    module.verify()
    if not speed:
        return
    options = llvm.create_pipeline_tuning_options(speed_level=speed)
    with llvm.create_pass_builder(machine, options) as builder:
        manager = builder.getModulePassManager()
        manager.run(module, builder)
        # The method of its class that frees it is hidden by one that does nothing.
        NewPassManager._dispose(manager)
        manager.detach()
