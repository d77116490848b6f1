"""Sources that have been rewritten, and how a function finds its rewritten code there.

A file is rewritten once, until it changes.  Those who ask for the code of a function need not know
when it was made, nor that the whole file was rewritten for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, TypeAlias

from mazurka.runtime.core.insides import names_in
from mazurka.runtime.rewrite import cached_sources
from mazurka.runtime.rewrite.borrowed_methods import binds_special_names

_Key: TypeAlias = tuple[str, int, tuple[str, ...], tuple[str, ...]]
"""What a function and its rewritten code have in common: name, line, free variables, arguments."""


class RewrittenSource:
    """The functions of a source, rewritten."""

    def __init__(self, whole: CodeType) -> None:
        self.whole = whole
        self.names = frozenset(_names_in(whole))
        """All names of variables and attributes, and all strings, in the source."""
        self._codes: dict[_Key, list[CodeType]] = {}
        self.borrowing: list[str] = []
        """The qualified names of classes that may have borrowed special methods."""
        self.hooked: list[str] = []
        """The qualified names of classes whose own code says what is a subclass of them."""
        for code in _all_functions_in(whole):
            self._codes.setdefault(key_of(code), []).append(code)
            if binds_special_names(code):
                self.borrowing.append(code.co_qualname)
            if code.co_name == "__subclasshook__":
                self.hooked.append(code.co_qualname.rpartition(".")[0])

    def find(self, code: CodeType) -> list[CodeType]:
        """The rewritten code of a function; several where functions on one line look alike."""
        found = self._codes.get(key_of(code), [])
        if len(found) > 1:
            found = [other for other in found if start_of(other) == start_of(code)]
        return found

    def line_of(self, class_name: str) -> int:
        """The line of the class with a qualified name; the first line if it is not there."""
        return next((key[1] for key in self._codes if key[0] == class_name), 1)

    def made(self, code: CodeType) -> bool:
        """Whether this very code comes from here."""
        return any(code is one for one in self._codes.get(key_of(code), ()))


_rewritten: dict[str, tuple[tuple[int, int], RewrittenSource]] = {}
"""By file: when it was last changed and its size, and what has been made of it."""


def rewrite_file(file: str) -> RewrittenSource:
    """Rewrite a source file, unless that has been done already."""
    status = os.stat(file)
    version = (status.st_mtime_ns, status.st_size)
    known = _rewritten.get(file)
    if known is None or known[0] != version:
        whole = cached_sources.compile_cached(Path(file).read_bytes(), file)
        known = _rewritten[file] = (version, RewrittenSource(whole))
    return known[1]


def is_from_source(code: CodeType) -> bool:
    """Whether code has been made by rewriting the source file that it names."""
    known = _rewritten.get(code.co_filename)
    return known is not None and known[1].made(code)


def source_file(module: ModuleType) -> str | None:
    """The source file of a module; None if there is none."""
    file = names_in(module).get("__file__")
    if type(file) is not str or not file.endswith(".py") or not os.path.isfile(file):
        return None
    return file


def key_of(code: CodeType) -> _Key:
    """What code has in common with its rewritten code."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_varnames[:count]


def start_of(code: CodeType) -> tuple[int, int]:
    """Where the text of a function begins, as far as instructions tell."""
    places = ((line, column) for line, _, column, _ in code.co_positions())
    known = [(line, column) for line, column in places if line and column]
    return min(known, default=(0, 0))


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The code of functions and classes that code makes itself."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _all_functions_in(code: CodeType) -> Iterator[CodeType]:
    for inner in functions_in(code):
        yield inner
        yield from _all_functions_in(inner)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
        elif isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):  # of `from ... import`
            yield from (name for name in constant if isinstance(name, str))


NO_SOURCE: Final = RewrittenSource(compile("", "", "exec"))
"""That of modules without source, in which no function is found."""
