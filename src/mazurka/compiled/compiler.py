"""Compile a kernel with Numba: one module for LLVM, made of all functions that it uses.

Numba makes each function a library of its own: it links in all that the function calls, optimizes
the whole, and emits machine code for it, so that it could be called from Python.  Nobody calls
the parts of a kernel from Python.  The quick way (`_without_libraries`) has Numba write the
functions as LLVM assembly and leaves out the rest; they are then linked once and optimized once,
which takes half the time.  It replaces methods of Numba that are not documented, and leaves
functions behind that only the quick way can use.  So processes that do nothing else go this way
(`mazurka.compiled.cache`), and where they do not get to the end, Numba compiles as usual.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import llvmlite.binding as llvm

GIVE_WAY = "sched_yield"
"""The one function of the system that kernels call; `mazurka.compiled.cache` sees to it that there
is one."""


def compile_kernel(module_name: str, machine: Any, *, quick: bool = False) -> tuple[str, bytes]:
    """The symbol and the object code of `run` in a kernel's module."""
    function = import_module(module_name).run
    with _without_collections():
        if quick:
            with _without_libraries():
                symbol, module = _write_parts(function)
        else:
            symbol, module = _write_whole(function)
        _optimize(module, symbol, machine)
        _require_self_contained(module)
        return symbol, machine.emit_object(module)


def write_kernel(module_name: str, arguments: int) -> tuple[str, bytes]:
    """The symbol and the bitcode of `run` in a kernel's module, a function of so many numbers.

    It is not optimized, is for no machine in particular, and may call functions that are defined
    elsewhere: whoever links it with them decides all this.  Only the quick way can write it."""
    function = import_module(module_name).run
    with _without_collections(), _without_libraries():
        symbol, module = _write_parts(function, arguments)
        return symbol, module.as_bitcode()


def _write_parts(function: Any, arguments: int = 1) -> tuple[str, Any]:
    """A kernel as LLVM assembly: each function it uses once, not optimized."""
    result = _compile(function, arguments)
    parts: dict[Any, None] = {}
    _collect(result.library, parts)
    whole: Any = None
    for part in parts:
        module = part._final_module.clone()
        if whole is None:
            whole = module
            continue
        for each in module.functions:
            if not each.is_declaration and each.linkage == llvm.Linkage.external:
                each.linkage = "linkonce_odr"
        whole.link_in(module)
    return result.fndesc.llvm_func_name, whole


def _collect(library: Any, found: dict[Any, None]) -> None:
    if library not in found:
        found[library] = None
        for used in library._linking_libraries:
            _collect(used, found)


def _write_whole(function: Any) -> tuple[str, Any]:
    """The same by Numba's own linker."""
    result = _compile(function)
    return result.fndesc.llvm_func_name, llvm.parse_assembly(result.library.get_llvm_str())


def _compile(function: Any, arguments: int = 1) -> Any:
    from numba import types

    with _low_optimization():
        function.compile(types.int64(*[types.int64] * arguments))
    (result,) = function.overloads.values()
    return result


@contextmanager
def _without_collections() -> Iterator[None]:
    """Numba makes millions of objects, nearly all of which live as long as it compiles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _without_libraries() -> Iterator[None]:
    """Have Numba write functions as LLVM assembly: not linked, not optimized, no machine code."""
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.cpu import CPUContext

    def keep_as_written(library: Any, module: Any) -> None:
        module.data_layout = library._codegen._data_layout

    def finish(library: Any) -> None:
        library._finalized = True

    def stand_in(context: Any, library: Any, descriptor: Any, environment: Any) -> Any:
        return [].append  # a built-in function that nobody calls, another one each time

    replaced: list[tuple[Any, str, Any]] = [
        (CPUCodeLibrary, "_optimize_functions", keep_as_written),
        (CPUCodeLibrary, "finalize", finish),
        (CPUContext, "get_executable", stand_in),
    ]
    usual = [getattr(owner, method) for owner, method, _ in replaced]
    try:
        for owner, method, other in replaced:
            setattr(owner, method, other)
        yield
    finally:
        for (owner, method, _), original in zip(replaced, usual, strict=True):
            setattr(owner, method, original)


@contextmanager
def _low_optimization() -> Iterator[None]:
    """Have Numba optimize little: it does so for each function alone, `_optimize` for the whole.

    States are a few words, so loops are short and vectors do not pay."""
    from numba.core import config

    options = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
    kept = {option: getattr(config, option) for option in options}
    wanted = {**dict.fromkeys(options, 0), "OPT": type(kept["OPT"])(1)}
    try:
        for option, value in wanted.items():
            setattr(config, option, value)
        yield
    finally:
        for option, value in kept.items():
            setattr(config, option, value)


def _optimize(module: Any, symbol: str, machine: Any) -> None:
    """Make one function of all of them, and optimize it as one."""
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _require_self_contained(module: Any) -> None:
    """Kernels must need nothing of Numba's run time: it will not be there."""
    known = ("llvm.", "memcpy", "memset", "memmove", GIVE_WAY)
    missing = [
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith(known)
    ]
    if missing:
        raise AssertionError(f"a kernel needs {', '.join(missing)}")
