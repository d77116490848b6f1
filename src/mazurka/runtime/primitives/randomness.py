"""Random numbers: the same ones in every run.

The generators that a process has (`random.random()`, `numpy.random.rand()`) are in the state in
which the exploration has found them when a run begins, so whoever seeds them before the test gets
the numbers that the seed stands for.  Which thread draws which number depends on their order, as it
does without control: a draw changes the generator.

What comes from the operating system (`os.urandom`, `secrets`, `uuid.uuid4`, a `random.Random()`
without a seed) is made of the thread that asks and of how often it has asked before.  So it does
not depend on what other threads do, and it is the same in every process.

So are names of temporary files, except that each process has its own: all threads draw them from
one generator, and every order of their draws would give other names.
"""

from __future__ import annotations

import _random
import ctypes
import os
import random
import sys
import tempfile
from _thread import get_ident
from collections.abc import Callable
from hashlib import shake_128
from types import MethodType
from typing import Any, Final

from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.patches import Patches, bind_as_builtin, original
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.primitive import Primitive
from mazurka.runtime.sharing.monitoring import unobserved

_draws: dict[str, int] = {}
"""By the path of a thread: how often it has asked the system in this run."""
_states: dict[str, Callable[[], None]] = {}
"""By the package of a generator: what puts it into the state in which it was found."""
_SEED_SIZE: Final = 32
_NODE: Final = 1 << 40 | 1
"""A number for this computer in `uuid.uuid1`: one of those that may be drawn."""


def draw_bytes(size: int) -> bytes:
    """Make what the system gives the running thread."""
    path = session.current.running.path
    count = _draws[path] = _draws.get(path, 0) + 1
    return shake_128(f"{path} {count}".encode()).digest(size)


def _make_source(real: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def urandom(_module: object, size: int, /) -> bytes:
        if session.current.ident != get_ident() or size < 0:
            return real(size)
        return draw_bytes(size)

    return bind_as_builtin(urandom, real)


def _draw_name(self: Any) -> str:
    """`tempfile._RandomNameSequence.__next__`"""
    if session.current.ident != get_ident():
        name: str = original(_NAMES, "__next__")(self)
        return name
    path = session.current.running.path
    count = _draws[path] = _draws.get(path, 0) + 1
    drawn = shake_128(f"{path} {count} {os.getpid()}".encode()).digest(_NAME_LENGTH)
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in drawn)


_NAMES: Final[Any] = vars(tempfile)["_RandomNameSequence"]
_LETTERS: Final[str] = _NAMES.characters
_NAME_LENGTH: Final = 8


def _seed(self: Any, a: Any = None, version: int = 2) -> None:
    """`random.Random.seed`"""
    if a is None and session.current.ident == get_ident():
        a = int.from_bytes(draw_bytes(_SEED_SIZE))
    original(random.Random, "seed")(self, a, version)


_GLOBAL: Final[random.Random] = random.seed.__self__  # type: ignore[attr-defined]


def _replace(undo: Patches, settings: ControlSettings) -> list[tuple[Any, Any]]:
    return [(os.urandom, _make_source(os.urandom)), (random.seed, MethodType(_seed, _GLOBAL))]


def _install(patches: Patches) -> None:
    patches.methods(random.Random, seed=_seed)
    patches.methods(_NAMES, __next__=_draw_name)
    _states["random"] = _keep_generator()
    numbers: Any = sys.modules.get("numpy.random")
    if hasattr(numbers, "set_state"):
        found = numbers.get_state()
        _states["numpy"] = lambda: numbers.set_state(found)
    patches.append(_put_back)
    uuid: Any = sys.modules.get("uuid")
    if hasattr(uuid, "_generate_time_safe"):  # C code, which would look at the real clock
        patches.attribute(uuid, "_generate_time_safe", None)
        patches.attribute(uuid, "_node", uuid._node or _NODE)


def _keep_generator() -> Callable[[], None]:
    """Return what puts the generator of `random` back where it is now.

    That takes long, and few programs draw numbers: so the memory of the generator is compared,
    but for what stands in the variables of the object.
    """
    state, drawn = _GLOBAL.getstate(), _memory.raw
    gauss_next: object = vars(_GLOBAL).get("gauss_next")

    def restore() -> None:
        if _memory.raw != drawn or vars(_GLOBAL).get("gauss_next") is not gauss_next:
            _GLOBAL.setstate(state)

    return restore


_HEADER: Final = object.__basicsize__
_SIZE: Final = _random.Random.__basicsize__ - _HEADER
_memory: Final = (ctypes.c_char * _SIZE).from_address(id(_GLOBAL) + _HEADER)


def _begin_run() -> None:
    _draws.clear()
    for package, restore in _states.items():
        if package == "random" or package in unobserved.packages:
            restore()


def _put_back() -> None:
    """Let later tests draw the numbers that they would have drawn."""
    for restore in _states.values():
        restore()
    _states.clear()


PRIMITIVE = Primitive(
    words=(),
    classes=(),
    models=(),
    private={},
    parts=frozenset(),
    replace=_replace,
    install=_install,
    begin_run=_begin_run,
)
