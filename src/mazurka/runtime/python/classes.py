"""Classes that are called: containers of the program, and built-in ones that others call.

`class Bag(list)` without a constructor of its own makes its objects by C code, which goes through
what it is given, as `list` does.  `Thread(target=list, args=(items,))` calls the class later, and
elsewhere; only what stands where it will be called is replaced by a handle (`accesses_handles`): a
class that is handed on as a value must stay what it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final
from weakref import ref

from mazurka.runtime.python.builtin_functions import SPECIAL, reading
from mazurka.runtime.python.containers import family_of
from mazurka.runtime.python.handles import handle, handles, may_touch
from mazurka.runtime.python.methods import METHODS
from mazurka.runtime.python.turns import stepped

_known: dict[int, ref[type]] = {}


def watch_container(kind: type) -> bool:
    """Whether calls of a class of the program fill containers by C code; they are watched then."""
    if family_of(kind) not in METHODS and not issubclass(kind, (tuple, frozenset)):
        return False
    own: Any = (kind.__init__, kind.__new__, type(kind).__call__)  # type: ignore[misc]
    if any(type(function) is FunctionType for function in own):
        return False
    identity = id(kind)

    def forget(_: ref[type]) -> None:
        del _known[identity], SPECIAL[identity]

    _known[identity] = ref(kind, forget)
    SPECIAL[identity] = reading
    return True


_CALLERS: Final = frozenset({"threading", "concurrent", "mazurka", "heapq", "bisect"})
"""Packages whose functions call what they are given as the first argument, or by these names."""
_NAMES: Final = ("target", "function", "fn", "func", "initializer", "key")


def calling_back(
    callee: Callable[[Any, int], Any],
    function: Any,
    site: int,
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """A function of the library that will call what it is given, now or later; `callee` says what
    that touches."""
    classes = False
    for name, value in named.items():
        if isinstance(value, type):
            classes = True
        elif may_touch(value):
            named[name] = handle(value, site, callee)
    if arguments or classes:
        arguments = _with_classes(function, arguments, named, site, callee)
    return function(*(handles(arguments, site, callee) if arguments else ()), **named)


def _with_classes(
    function: Any,
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    site: int,
    callee: Callable[[Any, int], Any],
) -> tuple[Any, ...]:
    """The arguments of a function of the library, with handles for classes that it will call."""
    module: str = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] not in _CALLERS and function is not partial:
        return arguments
    for name in _NAMES:
        if name in named and _is_special(named[name]):
            named[name] = handle(named[name], site, callee)
    at = 1 if isinstance(function, type) and issubclass(function, threading.Thread) else 0
    if len(arguments) > at and _is_special(arguments[at]):
        called = handle(arguments[at], site, callee)
        arguments = (*arguments[:at], called, *arguments[at + 1 :])
    if getattr(function, "__name__", "") == "map":
        return stepped(arguments, site)
    return arguments


def _is_special(value: Any) -> bool:
    return isinstance(value, type) and (id(value) in SPECIAL or watch_container(value))
