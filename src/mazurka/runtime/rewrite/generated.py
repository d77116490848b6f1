"""The methods that decorators generate.

Those of `dataclasses` have no source, so they are written once more.  What they read is what a
source would say, field by field, in the same order as the generated ones.  `attrs` and others leave
the source of what they generate with `linecache`, for debuggers; where a function makes a class, it
is rewritten like any other (`instrument_sourceless` is for classes of modules).  The comparisons of
order that `attrs` gives to a class are closures of its own, and are replaced.

The `__init__` of a dataclass only fills an object that nobody else has, and stays as it is, unless
it calls C code for the value of a field (`default_factory=counter.__next__`).
"""

from __future__ import annotations

import ast
import dataclasses
import linecache
import sys
from collections.abc import Container, Iterator
from functools import cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.access_sites import MARK
from mazurka.runtime.core.insides import module_of, names_in_class
from mazurka.runtime.rewrite.bytecode.watched import is_generated
from mazurka.runtime.rewrite.source.statements import compile_tree
from mazurka.runtime.rewrite.sourceless import watched_or_named

_ORDERED: Final = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def generated_functions(modules: Container[str]) -> Iterator[tuple[type, FunctionType]]:
    """The generated methods of the dataclasses of some modules that read fields."""
    for kind in classes_of(modules):
        for function in _generated(kind):
            yield kind, function


def _generated(kind: type) -> Iterator[FunctionType]:
    space = names_in_class(kind)
    if "__dataclass_fields__" not in space:
        return
    for name in ("__eq__", "__repr__", "__hash__", *_ORDERED):
        function: Any = space.get(name)
        if type(function) is FunctionType:
            function = vars(function).get("__wrapped__", function)
        if type(function) is FunctionType and function.__code__.co_filename == "<string>":
            yield function


def calling_c(modules: Container[str]) -> Iterator[FunctionType]:
    """The generated `__init__` of those dataclasses of some modules that call C code there."""
    for kind in classes_of(modules):
        yield from _calling_c(kind)


def _calling_c(kind: type) -> Iterator[FunctionType]:
    space = names_in_class(kind)
    fields: Any = space.get("__dataclass_fields__", {})
    function: Any = space.get("__init__")
    if not any(_is_of_c(field.default_factory) for field in fields.values()):
        return
    if type(function) is FunctionType and is_generated(function.__code__):
        yield function


def _is_of_c(factory: Any) -> bool:
    called = factory.__func__ if type(factory) is MethodType else factory
    return called is not dataclasses.MISSING and not isinstance(called, (type, FunctionType))


def defined(kind: Any, line: int, module: ModuleType) -> None:
    """A function has made a class, and decorated it."""
    if not isinstance(kind, type):
        return
    for function in _generated(kind):
        code = written_out(kind, function.__name__, str(module.__file__), line)
        if code is not None and not function.__code__.co_freevars:
            function.__code__ = code
    for function in _calling_c(kind):
        function.__code__ = watched_or_named(function, "generated", False) or function.__code__
    for function, code in _sourced(kind):
        function.__code__ = code
        function.__globals__[MARK] = vars(module)[MARK]
    for name, function in ordering(kind, module, line):
        type.__setattr__(kind, name, function)


def _sourced(kind: type) -> Iterator[tuple[FunctionType, CodeType]]:
    """The functions of a class whose source was made up, and their rewritten code."""
    for value in list(names_in_class(kind).values()):
        function: Any = value.fget if type(value) is property else value
        if type(function) is not FunctionType:
            continue
        old = function.__code__
        lines = linecache.getlines(old.co_filename) if old.co_filename.startswith("<") else []
        for code in _rewritten("".join(lines), old.co_filename):
            place = (code.co_name, code.co_firstlineno, code.co_freevars)
            if place == (old.co_name, old.co_firstlineno, old.co_freevars):
                yield function, code


@cache
def _rewritten(source: str, file: str) -> tuple[CodeType, ...]:
    """The functions of a source, as far as they are not inside of others."""
    try:
        module = compile_tree(ast.parse(source, file), file)
    except SyntaxError:
        return ()
    return tuple(constant for constant in module.co_consts if isinstance(constant, CodeType))


def ordering(kind: type, module: ModuleType, line: int) -> Iterator[tuple[str, FunctionType]]:
    """`__lt__` and its like for a class of `attrs`, where no field has a key of its own."""
    space = names_in_class(kind)
    fields: Any = [field for field in space.get("__attrs_attrs__", ()) if field.order]
    if any(field.order_key is not None for field in fields):
        return
    names = [field.name for field in fields]
    for name in _ORDERED:
        function = space.get(name)
        if type(function) is FunctionType and function.__globals__.get("__name__") == "attr._make":
            code = _compiled(_comparison(name, names), str(module.__file__), line)
            assert code is not None
            yield name, FunctionType(code, vars(module), name)


def classes_of(modules: Container[str]) -> Iterator[type]:
    waiting: list[type] = [object]
    known: set[int] = set()
    while waiting:
        kind = waiting.pop()
        if id(kind) in known:
            continue
        known.add(id(kind))
        waiting += type.__subclasses__(kind)
        if module_of(kind) in modules:
            yield kind


def written_out(kind: type, name: str, file: str, line: int) -> CodeType | None:
    """The rewritten code of such a method; the place is that of the class."""
    fields: Any = names_in_class(kind)["__dataclass_fields__"].values()
    plain = [field for field in fields if field._field_type is dataclasses._FIELD]  # type: ignore[attr-defined]
    return _compiled(_source(name, plain), file, line)


@cache
def _compiled(source: str, file: str, line: int) -> CodeType | None:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset, node.end_col_offset = 0, 1_000  # type: ignore[attr-defined]
    module = compile_tree(tree, file)
    codes = [constant for constant in module.co_consts if isinstance(constant, CodeType)]
    return codes[0] if codes else None


def _source(name: str, fields: list[Any]) -> str:
    compared = [field.name for field in fields if field.compare]
    if name == "__repr__":
        shown = ", ".join(f"{f.name}={{self.{f.name}!r}}" for f in fields if f.repr)
        return f"def __repr__(self):\n return self.__class__.__qualname__ + f'({shown})'"
    if name == "__hash__":
        kept = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
        return f"def __hash__(self):\n return hash({_tuple('self', kept)})"
    if name == "__eq__" and sys.version_info >= (3, 13):
        each = " and ".join(f"self.{field} == other.{field}" for field in compared) or "True"
        test = (
            f" if self is other: return True\n if other.__class__ is self.__class__: return {each}"
        )
        return f"def __eq__(self, other):\n{test}\n return NotImplemented"
    return _comparison(name, compared)


def _comparison(name: str, compared: list[str]) -> str:
    sign = _ORDERED.get(name, "==")
    sides = f"{_tuple('self', compared)} {sign} {_tuple('other', compared)}"
    test = f" if other.__class__ is self.__class__: return {sides}"
    return f"def {name}(self, other):\n{test}\n return NotImplemented"


def _tuple(owner: str, fields: list[str]) -> str:
    return "(" + "".join(f"{owner}.{field}," for field in fields) + ")"
