"""Compiled kernels: made once by Numba, kept on disk as machine code, loaded by LLVM alone.

Importing Numba takes longer than checking a small model.  So the first use of a kernel compiles
`run(address)` of `mazurka.stateful.kernels.<name>`, and stores the object code in the user's cache
directory under a key made of everything it depends on: the kernels' sources, the versions of
Python, Numba and LLVM's binding, and the processor.  Later runs only load it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from mazurka.search import Observer

SOURCES = Path(__file__).parent
PARTS = {
    "depth_first": "the engine",
    "breadth_first": "the breadth-first engine",
    "store": "the engine for large searches",
    "transactions": "the engine for transactions",
    "cartesian": "the engine for cartesian vectors",
    "persistent": "the engine for persistent sets",
    "sorted_runs": "the engine for states on disk",
}
"""What kernels are called in messages."""
MAGIC = b"mazurka kernel 1\n"

_loaded: dict[str, tuple[Any, Callable[[int], int]]] = {}
_loading = threading.Lock()

# What Numba's compiled functions look like from outside: status, result, exception, argument.
_CONVENTION = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p), ctypes.c_int64
)


def kernel(name: str, observer: Observer) -> Callable[[int], int]:
    """The function `run` of a kernel module, as native code.  It runs without the GIL."""
    with _loading:
        return _kernel(name, observer)


def _kernel(name: str, observer: Observer) -> Callable[[int], int]:
    if name not in _loaded:
        stored = _read(_path(name))
        if stored is None:
            part = PARTS.get(name, f"the engine ({name})")
            observer.notice(f"preparing {part}, first run only (some seconds)")
            stored = _compile(name)
            if not _write(_path(name), *stored):
                observer.notice(
                    f"the engine cannot be kept in {cache_directory()} and is prepared anew each"
                    " time; MAZURKA_CACHE_DIR names another place"
                )
        _loaded[name] = _load(*stored)
    return _loaded[name][1]


def cache_directory() -> Path:
    """Where machine code is kept; `MAZURKA_CACHE_DIR` says otherwise."""
    chosen = os.environ.get("MAZURKA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "mazurka"


def _path(name: str) -> Path:
    return cache_directory() / f"{name}-{_key()}.kernel"


@cache
def _key() -> str:
    digest = hashlib.sha256()
    for source in sorted([*(SOURCES / "kernels").glob("*.py"), SOURCES / "blocks.py"]):
        digest.update(source.read_bytes())
    for part in (
        sys.version,
        platform.machine(),
        metadata.version("numba"),
        metadata.version("llvmlite"),
        llvm.get_host_cpu_name(),
    ):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:24]


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
    )


def _compile(name: str) -> tuple[str, bytes]:
    """The symbol and the object code of a kernel."""
    from numba import types

    function = import_module(f"mazurka.stateful.kernels.{name}").run
    with _numba_settings():
        function.compile(types.int64(types.int64))
    (result,) = function.overloads.values()
    symbol = result.fndesc.llvm_func_name
    module = llvm.parse_assembly(result.library.get_llvm_str())
    machine = _machine()
    _keep_only(module, symbol, machine)
    _require_self_contained(module)
    return symbol, machine.emit_object(module)


@contextmanager
def _numba_settings() -> Iterator[None]:
    """Have Numba optimize little: it does so for each function alone, `_keep_only` for the whole.

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


def _keep_only(module: Any, symbol: str, machine: Any) -> None:
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
    known = ("llvm.", "memcpy", "memset", "memmove")
    missing = [
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith(known)
    ]
    if missing:
        raise AssertionError(f"a kernel needs {', '.join(missing)}")


def _load(symbol: str, code: bytes) -> tuple[Any, Callable[[int], int]]:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    native = _CONVENTION(engine.get_function_address(symbol))

    def run(address: int) -> int:
        result = ctypes.c_int64()
        failure = ctypes.c_void_p()
        status = native(ctypes.byref(result), ctypes.byref(failure), address)
        assert status == 0, "kernels raise nothing"
        return result.value

    return engine, run


def _write(path: Path, symbol: str, code: bytes) -> bool:
    """Keep a kernel; where that is not possible it is compiled again next time."""
    body = symbol.encode() + b"\n" + code
    content = MAGIC + hashlib.sha256(body).digest() + body
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            whole = Path(scratch) / path.name
            whole.write_bytes(content)
            os.replace(whole, path)
        return True
    return False


def _read(path: Path) -> tuple[str, bytes] | None:
    """A kept kernel, if it is there and whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    start = len(MAGIC) + 32
    body = content[start:]
    if content[:start] != MAGIC + hashlib.sha256(body).digest():
        return None
    symbol, _, code = body.partition(b"\n")
    return symbol.decode(), code
