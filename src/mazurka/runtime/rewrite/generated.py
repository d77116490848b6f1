"""The methods that decorators generate, observed.

Those of `dataclasses` have no source, so they are written once more.  What they read is what a
source would say, field by field, in the same order as the generated ones.  `attrs` and others leave
the source of what they generate with `linecache`, for debuggers; where a function makes a class, it
is rewritten like any other (for classes of modules, their instructions are).  The comparisons of
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

from mazurka.runtime.core.insides import module_of, names_in_class
from mazurka.runtime.rewrite.source.statements import compile_tree

_ORDERED: Final = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_READING: Final = ("__eq__", "__repr__", "__hash__", *_ORDERED)
"""Methods that `dataclasses` makes and that read fields."""
_OF_NEW_OBJECTS: Final = frozenset({"__init__", "__setattr__", "__delattr__"})
"""Methods that `dataclasses` makes: of new objects, and of those that cannot be changed."""


def find_classes(modules: Container[str]) -> Iterator[type]:
    """All classes that say that they belong to one of some modules."""
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


# -- dataclasses ---------------------------------------------------------------------------------


def is_generated(code: CodeType) -> bool:
    """Whether `dataclasses` has made it."""
    return code.co_qualname.startswith("__create_fn__")


def fills_new_object(code: CodeType) -> bool:
    """Whether code only touches an object that nobody else has."""
    return is_generated(code) and code.co_name in _OF_NEW_OBJECTS


def find_generated(kind: type) -> Iterator[FunctionType]:
    """The methods of a class that `dataclasses` has made."""
    for function in map(_unwrap, list(names_in_class(kind).values())):
        if type(function) is FunctionType and is_generated(function.__code__):
            yield function


def rewrite_dataclass(kind: type, file: str, line: int) -> Iterator[tuple[FunctionType, CodeType]]:
    """Write out the generated methods of a dataclass that read fields; their place is the class."""
    space = names_in_class(kind)
    fields: Any = space.get("__dataclass_fields__", {}).values()
    plain = [field for field in fields if field._field_type is dataclasses._FIELD]  # type: ignore[attr-defined]
    for name in _READING if "__dataclass_fields__" in space else ():
        function = _unwrap(space.get(name))
        if type(function) is FunctionType and function.__code__.co_filename == "<string>":
            code = _compile(_source_of(function.__name__, plain), file, line)
            if not function.__code__.co_freevars:
                yield function, code


def _unwrap(function: Any) -> Any:
    if type(function) is not FunctionType:
        return function
    return vars(function).get("__wrapped__", function)


def find_initializers_calling_c(kind: type) -> Iterator[FunctionType]:
    """The generated `__init__` of a dataclass, if it calls C code."""
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


@cache
def _compile(source: str, file: str, line: int) -> CodeType:
    """Rewrite the source of one function, as if all of it were on a line of a file."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset, node.end_col_offset = 0, 1_000  # type: ignore[attr-defined]
    return _functions_in(compile_tree(tree, file))[0]


def _functions_in(module: CodeType) -> tuple[CodeType, ...]:
    return tuple(constant for constant in module.co_consts if isinstance(constant, CodeType))


def _source_of(name: str, fields: list[Any]) -> str:
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
    return _compare(name, compared)


def _compare(name: str, compared: list[str]) -> str:
    sign = _ORDERED.get(name, "==")
    sides = f"{_tuple('self', compared)} {sign} {_tuple('other', compared)}"
    test = f" if other.__class__ is self.__class__: return {sides}"
    return f"def {name}(self, other):\n{test}\n return NotImplemented"


def _tuple(owner: str, fields: list[str]) -> str:
    return "(" + "".join(f"{owner}.{field}," for field in fields) + ")"


# -- attrs ---------------------------------------------------------------------------------------


def write_order(kind: type, module: ModuleType, line: int) -> Iterator[tuple[str, FunctionType]]:
    """Write `__lt__` and its like for a class of `attrs`, where no field has a key of its own."""
    space = names_in_class(kind)
    fields: Any = [field for field in space.get("__attrs_attrs__", ()) if field.order]
    if any(field.order_key is not None for field in fields):
        return
    names = [field.name for field in fields]
    for name in _ORDERED:
        function = space.get(name)
        if type(function) is FunctionType and function.__globals__.get("__name__") == "attr._make":
            code = _compile(_compare(name, names), str(module.__file__), line)
            yield name, FunctionType(code, vars(module), name)


def rewrite_text_methods(kind: type) -> Iterator[tuple[FunctionType, CodeType]]:
    """Rewrite the functions of a class whose source was made up and left with `linecache`."""
    for value in list(names_in_class(kind).values()):
        function: Any = value.fget if type(value) is property else value
        if type(function) is not FunctionType:
            continue
        old = function.__code__
        lines = linecache.getlines(old.co_filename) if old.co_filename.startswith("<") else []
        for code in _rewrite_text("".join(lines), old.co_filename):
            place = (code.co_name, code.co_firstlineno, code.co_freevars)
            if place == (old.co_name, old.co_firstlineno, old.co_freevars):
                yield function, code


@cache
def _rewrite_text(source: str, file: str) -> tuple[CodeType, ...]:
    """The functions of a source, as far as they are not inside of others."""
    try:
        return _functions_in(compile_tree(ast.parse(source, file), file))
    except SyntaxError:
        return ()
