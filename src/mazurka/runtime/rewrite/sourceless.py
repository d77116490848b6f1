"""Functions for which there is no source to be rewritten: their instructions are (`instructions`).

Modules of which only the compiled file is there, or whose source has changed or cannot be parsed;
functions that `exec` or `eval` has made, in the namespace of their module or in one of their own.
What remains is named in the result, with the reason.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.access_sites import MARK
from mazurka.runtime.core.insides import is_module, module_of, names_in, names_in_class
from mazurka.runtime.core.patches import is_frozen
from mazurka.runtime.python.catalogue import CachedFunction
from mazurka.runtime.rewrite.bytecode.codes import UnknownCodeError, take_apart
from mazurka.runtime.rewrite.bytecode.watched import is_generated, is_watched, watched
from mazurka.runtime.sharing.monitoring import unobserved

_TOUCHING: Final = frozenset(
    {
        *("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "STORE_DEREF"),
        *("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE", "STORE_SLICE"),
    }
)
_SUBSCRIPT: Final = ("BINARY_OP", 26)
_OPTIMIZED: Final = 1
"""The flag of the code of functions; bodies of modules and classes have it not."""
_GENERATOR: Final = 0x20 | 0x80 | 0x200
"""The flags of functions that return before they run."""
_OF_NEW_OBJECTS: Final = frozenset({"__init__", "__setattr__", "__delattr__"})
"""Methods that `dataclasses` makes: of new objects, and of those that cannot be changed."""


def has_code(module: ModuleType) -> bool:
    """Whether a module is made of Python's own code, whatever has become of its source."""
    return not str(names_in(module).get("__file__")).endswith(tuple(EXTENSION_SUFFIXES))


def with_caches() -> set[int]:
    """The identities of the functions that have caches of `functools`."""
    frozen = is_frozen()
    if frozen:
        gc.unfreeze()
    found = [thing for thing in gc.get_objects() if type(thing) is CachedFunction]
    if frozen:
        gc.freeze()
    return {id(vars(thing).get("__wrapped__")) for thing in found}


def watched_or_named(function: FunctionType, reason: str, fills: bool) -> CodeType | None:
    """The rewritten code of a function; where there is none, the result will name it."""
    code = function.__code__
    try:
        return watched(code, fills=fills and not code.co_flags & _GENERATOR)
    except UnknownCodeError as error:
        unobserved.packages.add(f"{code.co_qualname} ({reason}; {error})")
        return None


# -- functions in no module ----------------------------------------------------------------------


def homeless_functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions that a module or its classes hold and whose namespace is no module's."""
    for value in list(names_in(module).values()):
        if type(value) is FunctionType:
            if is_homeless(value):
                yield value
        elif issubclass(type(value), type) and module_of(value) == module.__name__:
            for inner in list(names_in_class(value).values()):
                yield from filter(is_homeless, functions_of(inner))


def functions_of(value: Any) -> Iterator[FunctionType]:
    """The functions in something that a class holds."""
    if type(value) is property:
        parts: tuple[Any, ...] = (value.fget, value.fset, value.fdel)
    elif type(value) in (staticmethod, classmethod):
        parts = (value.__func__,)
    else:
        parts = (value,)
    yield from (part for part in parts if type(part) is FunctionType)


def is_homeless(function: FunctionType) -> bool:
    """Whether the namespace of a function is no module's that is known."""
    space = function.__globals__
    name = dict.get(space, "__name__")
    if type(name) is not str or name == "builtins":
        return True  # the latter is where `dataclasses` looks for the names of homeless classes
    if name.startswith("namedtuple_"):
        return False  # made by `collections`, and private to new tuples
    module = sys.modules.get(name)
    return module is None or not is_module(module) or names_in(module) is not space


# -- what is not watched after all ---------------------------------------------------------------


def touches_unseen(code: CodeType) -> bool:
    """Whether code that has begun may touch data, and has not been rewritten by either means."""
    if is_watched(code) or MARK in code.co_names or not code.co_flags & _OPTIMIZED:
        return False
    if is_generated(code) and code.co_name in _OF_NEW_OBJECTS:
        return False
    try:
        row = take_apart(code).instructions
    except UnknownCodeError:
        return True
    return any(one.name in _TOUCHING or (one.name, one.argument) == _SUBSCRIPT for one in row)
