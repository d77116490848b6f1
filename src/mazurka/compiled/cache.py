"""Compiled kernels: made once by Numba, kept on disk as machine code, loaded by LLVM alone.

Importing Numba takes longer than checking a small model.  So the first use of a kernel compiles
`run(address)` of `mazurka.<engine>.kernels.<name>`, and stores the object code in the user's cache
directory under a key made of everything it depends on: the kernels' sources, the versions of
Mazurka, Python, Numba and LLVM's binding, and the processor.  Later runs only load it.

Whoever needs one kernel of an engine will soon need another, and nobody likes to wait twice.  So
the first use of any compiles all of that engine that are missing, in processes side by side
(`mazurka.compiled.builders`).  What they do not deliver is compiled here.

A search need not wait for that (`mazurka.stateful.compiled.early_kernel`).
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import platform
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mazurka.cache_folder import Cache, find_cache, find_private_cache, why_no_cache
from mazurka.compiled.builders import (
    build_side_by_side,
    share_out,
    start_aside,
    wait_for_left_behind,
)
from mazurka.errors import MazurkaError
from mazurka.extras import MODELS
from mazurka.search import Observer
from mazurka.search.resources import processors
from mazurka.version import __version__

SOURCES = Path(__file__).parents[1]
KERNELS = {
    "stateful": {
        "depth_first": 1.2,
        "store": 0.4,
        "breadth_first": 0.5,
        "parallel": 2.0,
        "partition": 0.8,
        "persistent": 1.8,
        "transactions": 2.1,
        "cartesian": 2.7,
        "sorted_runs": 0.8,
        "nested": 1.0,
    },
    "symbolic": {"operators": 1.5, "cones": 0.8, "simulation": 0.4},
    "stateless": {"context_bounds": 1.5},
}
"""The kernels of each engine, and about how many seconds of a processor each takes to compile.
No two engines have kernels of the same name."""
LINKED_LATER = {"device": 8}
"""Kernels that are kept as bitcode, and how many arguments they have."""
START_SECONDS = 0.8
"""About how long a process takes before it begins to compile."""
MOST_BUILDERS = 3
"""With more processes each compiles again what the kernels share."""

_loaded: dict[str, tuple[Any, Kernel]] = {}
_loading = threading.Lock()
_prepared: set[str] = set()
_said: set[str] = set()

# What Numba's compiled functions look like from outside: status, result, exception, argument.
_CONVENTION = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p), ctypes.c_int64
)


def kernel(name: str, observer: Observer) -> Kernel:
    """The function `run` of a kernel module, as native code.  It runs without the GIL."""
    with _loading:
        if name not in _loaded:
            _loaded[name] = _load(*_obtain(name, observer))
        return _loaded[name][1]


def is_compiled(name: str) -> bool:
    """Return whether a kernel is loaded, or in the cache."""
    return name in _loaded or read(find_place(), name) is not None


def compile_aside(name: str) -> None:
    """Have other processes compile a kernel, then all that its engine lacks; do not wait.

    Where an earlier command's processes are doing that, they go on."""
    place = find_cache()
    if place is not None and place.is_writable() and not is_under_way(place, engine_of(name)):
        for group in divide_missing(place, name):
            start_once(place, group)


def is_under_way(place: Cache, engine: str) -> bool:
    """Return whether another process compiles a kernel of an engine."""
    return MODELS.is_installed and any(place.is_locked(_entry(each)) for each in KERNELS[engine])


def bind_kernel(name: str, address: int) -> Callable[[], int] | None:
    """The same with its argument, for one thread at a time; None where it has not been compiled,
    and somebody would have to wait for it."""
    with _loading:
        if name not in _loaded:
            stored = read(find_place(), name)
            if stored is None:
                return None
            _loaded[name] = _load(*stored)
        return _loaded[name][1].bind(address)


def prepare_kernel(name: str) -> None:
    """Have another process compile a kernel, and do not wait for it.  Nobody does so twice."""
    place = find_place()
    if place is not None and place.is_writable():
        start_once(place, [name])


def start_once(place: Cache, names: Sequence[str]) -> None:
    """Have another process compile the kernels that none was started for."""
    new = [name for name in names if name not in _prepared]
    if new and MODELS.is_installed:
        start_aside(place, new)
    _prepared.update(new)


def _obtain(name: str, observer: Observer) -> tuple[str, bytes]:
    """The symbol and the object code of a kernel: from the cache, or compiled and put there."""
    MODELS.require("this search has no form in plain Python, and needs a compiler")
    place = find_place()
    stored = read(place, name)
    if stored is None:
        stored = _build_missing(place, name, observer)
    if stored is None:
        stored = _compile(name)
        if not write(place, name, *stored) and not why_no_cache():
            say_where(place, observer)
    return stored


def bitcode(name: str, observer: Observer) -> tuple[str, bytes]:
    """The symbol and the bitcode of a kernel that is linked with others before it is compiled."""
    place = find_place()
    wait_for_left_behind()
    stored = read(place, name)
    if stored is None and place is not None:
        observer.notice("preparing the engine for devices, first run only (about 3 s)")
        build_side_by_side(place, [[name]])
        stored = read(place, name)
    if stored is None:
        raise MazurkaError(
            f"the engine for devices could not be prepared{_in(place)};"
            " MAZURKA_CACHE_DIR names another place"
        )
    return stored


def _in(place: Cache | None) -> str:
    return f" ({why_no_cache()})" if place is None else f" in {place.folder}"


def _build_missing(place: Cache | None, name: str, observer: Observer) -> tuple[str, bytes] | None:
    """Let other processes compile all kernels that are not there; None where they fail."""
    groups, costs = divide_missing(place, name), KERNELS[engine_of(name)]
    longest = max((sum(costs[each] for each in group) for group in groups), default=0)
    seconds = math.ceil(START_SECONDS + longest)
    observer.notice(f"preparing the engine, first run only (about {seconds} s)")
    if why_no_cache():
        say_where(place, observer)
    wait_for_left_behind(lambda: read(place, name) is not None)
    if (stored := read(place, name)) is not None or place is None or not place.is_writable():
        return stored
    build_side_by_side(place, divide_missing(place, name))
    return read(place, name)


def divide_missing(place: Cache | None, name: str) -> list[list[str]]:
    """Divide the kernels of an engine that are not kept among processes; one of them comes first.

    Empty if that one is there."""
    kernels = KERNELS[engine_of(name)]
    costs = {each: cost for each, cost in kernels.items() if read(place, each) is None}
    groups = share_out(costs, min(processors(), MOST_BUILDERS)) if name in costs else []
    for group in groups:
        group.sort(key=lambda each: each != name)
    return groups


def build(folder: str, key_folder: str, *names: str) -> None:
    """Compile kernels and put them into the cache; for a process that does nothing else."""
    from mazurka.compiled import compiler

    place = Cache(Path(folder), Path(key_folder))
    for name in names:
        with place.locked(_entry(name)):
            if read(place, name) is not None:  # somebody else has done it meanwhile
                continue
            if name in LINKED_LATER:
                write(place, name, *compiler.write_kernel(module_of(name), LINKED_LATER[name]))
            else:
                write(
                    place, name, *compiler.compile_kernel(module_of(name), _machine(), quick=True)
                )


def engine_of(name: str) -> str:
    """The engine that has a kernel of this name."""
    if name in LINKED_LATER:
        return "stateful"
    return next(engine for engine, kernels in KERNELS.items() if name in kernels)


def module_of(name: str) -> str:
    """The module that a kernel is compiled from."""
    return f"mazurka.{engine_of(name)}.kernels.{name}"


@cache
def _key(engine: str) -> str:
    import llvmlite
    import llvmlite.binding as llvm

    digest = hashlib.sha256()
    own = SOURCES / engine
    for source in sorted([*(own / "kernels").glob("*.py"), own / "blocks.py"]):
        digest.update(source.read_bytes())
    digest.update((SOURCES / "compiled" / "pointers.py").read_bytes())
    for part in (
        __version__,
        sys.version,
        platform.machine(),
        _version_of_numba(),
        llvmlite.__version__,
        llvm.get_host_cpu_name(),
    ):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:24]


def _version_of_numba() -> str:
    """What tells versions of Numba apart: the text of its own file about it.

    Importing Numba is what a cache is to spare, and the library that reads the metadata of packages
    takes longer than reading the kernel."""
    found = find_spec("numba")
    if found is not None and found.origin is not None:
        with suppress(OSError):
            return Path(found.origin).with_name("_version.py").read_text("utf-8")
    from importlib import metadata

    return metadata.version("numba")


def _machine() -> Any:
    import llvmlite.binding as llvm

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
    from mazurka.compiled.compiler import compile_kernel

    return compile_kernel(module_of(name), _machine())


def _load(symbol: str, code: bytes) -> tuple[Any, Kernel]:
    """Return a kernel, and LLVM's engine, which has to stay."""
    import llvmlite.binding as llvm

    from mazurka.compiled.compiler import GIVE_WAY

    if sys.platform == "win32":
        yielding = ctypes.windll.kernel32.SwitchToThread
        llvm.add_symbol(GIVE_WAY, ctypes.cast(yielding, ctypes.c_void_p).value)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, Kernel(_CONVENTION(engine.get_function_address(symbol)))


class Kernel:
    """The function `run` of a kernel module."""

    longest_slice = sys.maxsize
    """How many transitions a slice may have."""

    def __init__(self, native: Callable[..., int]) -> None:
        self._native = native

    def __call__(self, address: int) -> int:
        return self.bind(address)()

    def bind(self, address: int) -> Callable[[], int]:
        """Return the kernel with its argument; one thread at a time may call it."""
        native, result, failure = self._native, ctypes.c_int64(), ctypes.c_void_p()
        arguments = ctypes.byref(result), ctypes.byref(failure), ctypes.c_int64(address)

        def run() -> int:
            status = native(*arguments)
            assert status == 0, "kernels raise nothing"
            return result.value

        return run


def find_place() -> Cache | None:
    """Return where kernels are kept: the user's cache, or a directory of this process."""
    return find_cache() or find_private_cache()


def say_where(place: Cache | None, observer: Observer) -> None:
    """Say once why the next run has to prepare the engine again."""
    reason = why_no_cache() or ("" if place is None else f"{place.folder} cannot be written")
    if reason not in _said:
        observer.notice(
            f"the engine is kept for this run only: {reason}; MAZURKA_CACHE_DIR names another place"
        )
    _said.add(reason)


def write(place: Cache | None, name: str, symbol: str, code: bytes) -> bool:
    """Keep a kernel; where that is not possible it is compiled again next time."""
    return place is not None and place.write(_entry(name), symbol.encode() + b"\n" + code)


def read(place: Cache | None, name: str) -> tuple[str, bytes] | None:
    """Return the symbol and the object code of a kept kernel."""
    body = place.read(_entry(name)) if place is not None and MODELS.is_installed else None
    if body is None:
        return None
    symbol, _, code = body.partition(b"\n")
    return symbol.decode(), code


def _entry(name: str) -> str:
    return f"{name}-{_key(engine_of(name))}.kernel"
