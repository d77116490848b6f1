"""What prints: to a file of the program's, or to the one that it has put into `sys`.

`print` writes at once what it is given, as far as the file is C code.  `traceback` is Python code
and writes line by line, so the lines of two threads can mix.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from mazurka.runtime.python.containers import Part, perform
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.foreign import foreign
from mazurka.runtime.python.opaque import part_of_opaque
from mazurka.runtime.python.variables import read_attribute
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.names import objects


def _is_kept(stream: Any) -> bool:
    """Whether the program has put a stream there, so that it can see what is printed."""
    return id(stream) in objects or isinstance(stream, io.StringIO)


def _is_of_c(file: Any) -> bool:
    return getattr(type(file), "__module__", "") == "_io"


def printing(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`print`"""
    file = named.get("file")
    if file is None:
        named["file"] = stream = read_attribute(sys, "stdout", site)
        if _is_kept(stream):
            file = stream
    more: list[Part] = []
    if file is not None and _is_of_c(file):
        more.append(part_of_opaque(file))
    return perform_deep(arguments, site, function, *arguments, more=more, **named)


class _Shown:
    """A file of C code that shows each time that it is written to."""

    __slots__ = ("_file", "_site")

    def __init__(self, file: Any, site: int) -> None:
        self._file = file
        self._site = site

    def write(self, text: str) -> Any:
        if not text:
            return 0
        return perform(part_of_opaque(self._file), self._site, self._file.write, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def tracing(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """A function of `traceback` that prints, to `sys.stderr` unless it is told where."""
    progress()
    given = signature(function).bind_partial(*arguments, **named).arguments
    file = given.get("file")
    if file is None:
        stream = read_attribute(sys, "stderr", site)
        if not _is_kept(stream):
            return foreign(function, site, *arguments, **named)
        file = stream
    if "file" in given and "file" not in named:  # it was given by its position
        return _tracing_to(file, function, site, *arguments)
    return function(*arguments, **{**named, "file": _Shown(file, site) if _is_of_c(file) else file})


def _tracing_to(file: Any, function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    if not _is_of_c(file):
        return function(*arguments)
    names = list(signature(function).parameters)
    place = names.index("file")
    return function(*arguments[:place], _Shown(file, site), *arguments[place + 1 :])


TRACING: Final = (
    *(traceback.print_exc, traceback.print_exception, traceback.print_tb, traceback.print_stack),
    *(traceback.print_last, traceback.print_list),
)
