"""The methods that `dataclasses` generates: they have no source, so they are written once more.

What they read is what a source would say, field by field, in the same order as the generated ones.
"""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Container, Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

from mazurka.runtime.insides import module_of, names_in_class
from mazurka.runtime.rewriting import compile_tree

_ORDERED: Final = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def generated_functions(modules: Container[str]) -> Iterator[tuple[type, FunctionType]]:
    """The generated methods of the dataclasses of some modules that read fields."""
    for kind in _classes_of(modules):
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


def defined(kind: Any, line: int, file: str) -> None:
    """A function has made a class that may be a dataclass."""
    if isinstance(kind, type):
        for function in _generated(kind):
            code = written_out(kind, function.__name__, file, line)
            if code is not None and not function.__code__.co_freevars:
                function.__code__ = code


def _classes_of(modules: Container[str]) -> Iterator[type]:
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
    sign = _ORDERED.get(name, "==")
    sides = f"{_tuple('self', compared)} {sign} {_tuple('other', compared)}"
    test = f" if other.__class__ is self.__class__: return {sides}"
    return f"def {name}(self, other):\n{test}\n return NotImplemented"


def _tuple(owner: str, fields: list[str]) -> str:
    return "(" + "".join(f"{owner}.{field}," for field in fields) + ")"
