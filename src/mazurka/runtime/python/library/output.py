"""Functions that print or warn.

`print` and `traceback` write to a file of the program, or to the one that it has put into `sys`.

`print` writes at once what it is given, as far as the file is C code.  `traceback` is Python code
and writes line by line, so the lines of two threads can mix.
"""

from __future__ import annotations

import io
import sys
import warnings
from _thread import get_ident
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from types import BuiltinMethodType, FrameType
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import RUNTIME_FOLDER
from mazurka.runtime.python.calls import performers, performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.containers import part_of, perform_all
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.opaque import parts_of_opaque
from mazurka.runtime.python.variables import read_attribute, touch_attribute
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.names import objects


def _is_kept(stream: Any) -> bool:
    """Tell whether a stream belongs to the program, so that it can see what is printed."""
    return id(stream) in objects or issubclass(type(stream), io.StringIO)


def _is_of_c(file: Any) -> bool:
    return getattr(type(file), "__module__", "") == "_io"


@performs(CallEffect.PRINTS)
def print_text(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Perform `print(...)`."""
    file = named.get("file")
    if file is None:
        named["file"] = stream = read_attribute(sys, "stdout", site)
        if _is_kept(stream):
            file = stream
    more = parts_of_opaque(file) if _is_of_c(file) else []
    if file is not None and not more and session.current.ident == get_ident():
        touch_attribute(file, "write", site)
    return perform_deep(arguments, site, function, *arguments, more=more, named=named)


class _Shown:
    """Stands for a file of C code, and shows each write to it."""

    __slots__ = ("_file", "_site")

    def __init__(self, file: Any, site: int) -> None:
        self._file = file
        self._site = site

    def write(self, text: str) -> Any:
        if not text:
            return 0
        return perform_all(parts_of_opaque(self._file), self._site, self._file.write, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@performs(CallEffect.PRINTS_TRACEBACK)
def print_traceback(
    function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any
) -> Any:
    """Call a function of `traceback` that prints to a file, or to `sys.stderr`."""
    progress()
    bound = signature(function).bind_partial(*arguments, **named)
    file = bound.arguments.get("file")
    if file is None:
        file = read_attribute(sys, "stderr", site)
        if not _is_kept(file):
            return performers[CallEffect.TOUCHES_ALL](function, site, *arguments, **named)
    bound.arguments["file"] = _Shown(file, site) if _is_of_c(file) else file
    return function(*bound.args, **bound.kwargs)


@performs(CallEffect.WARNS)
def warn(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Perform `warnings.warn(...)` or `warnings.warn_explicit(...)`."""
    progress()
    with getattr(warnings, "_lock", _NO_LOCK):
        filters, log = _find_filters(site)
        read_attribute(warnings, "showwarning", site)
        shows = read_attribute(warnings, "_showwarnmsg_impl", site)
        if type(shows) is BuiltinMethodType:
            log = shows.__self__
        parts = [part_of(filters, How.READ_ALL), part_of(log, How.CHANGE)]
        # What shows a warning may be code of the program, which has accesses of its own.
        perform_all([part for part in parts if part is not None], site, bool, filters)
        if function.__name__ == "warn":
            arguments, named = _with_own_level(arguments, named)
        return function(*arguments, **named)


_NO_LOCK: Final[AbstractContextManager[None]] = nullcontext()
"""Stands for the lock of `warnings`, which is there from Python 3.14 on (`primitives.lock`)."""


def _find_filters(site: int) -> tuple[Any, Any]:
    """Read the filters that hold for this thread, and the list of its context that records what is
    shown.  There are contexts from Python 3.14 on."""
    find_context = getattr(warnings, "_get_context", None)
    if find_context is None:
        return read_attribute(warnings, "filters", site), None
    context = find_context()
    return read_attribute(context, "_filters", site), read_attribute(context, "log", site)


def _with_own_level(
    arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Count the frames of Mazurka up to the one that a warning is about: the program does not
    know of them."""
    level = arguments[_LEVEL] if len(arguments) > _LEVEL else named.get("stacklevel", 1)
    if type(level) is not int:
        return arguments, named  # it will be refused
    wanted, counted = max(level, 1), 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and wanted:
        counted += 1
        wanted -= not frame.f_code.co_filename.startswith(RUNTIME_FOLDER)
        frame = frame.f_back
    counted += wanted  # there are not so many
    if len(arguments) > _LEVEL:
        return (*arguments[:_LEVEL], counted, *arguments[_LEVEL + 1 :]), named
    return arguments, {**named, "stacklevel": counted}


_LEVEL: Final = 2
"""The position of `stacklevel` among the arguments of `warnings.warn`."""
