"""What an expression of a model denotes while it is elaborated.

Numbers are IR expressions over constants and the thread's own scalar variables: evaluating one
never touches shared data, because every shared read has already become an edge of its own.
Everything else (objects, functions, lists, ranges) is known statically up to its address.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.frontend.kit.shapes import Blueprint, Reference, Shape
from mazurka.ir.expressions import Const, Expr


@dataclass(frozen=True, slots=True)
class Number:
    expr: Expr
    boolean: bool = False

    @property
    def constant(self) -> int | None:
        return self.expr.value if isinstance(self.expr, Const) else None


@dataclass(frozen=True, slots=True)
class ThreadHandle:
    """A created thread: its number plus one."""

    expr: Expr


@dataclass(eq=False, slots=True)
class Sequence:
    """A list or tuple whose items are known while elaborating; only lists can grow."""

    items: list[Value]
    growing: bool = False
    """A list made where control flow is certain, which may be appended to there."""
    origin: object = None
    """Where it was made: appending is allowed in the same certain stretch of code only."""
    is_tuple: bool = False
    """Whether it is certainly a tuple, which can be compared."""


@dataclass(frozen=True, slots=True)
class Interval:
    """`range(start, stop, step)`; the step is a constant."""

    start: Expr
    stop: Expr
    step: int


def count_numbers(numbers: range) -> int:
    """Count the numbers of a range; `len` fails where they are more than 2 ** 63 - 1."""
    return (numbers[-1] - numbers[0]) // numbers.step + 1 if numbers else 0


@dataclass(frozen=True, slots=True)
class Function:
    definition: ast.FunctionDef


@dataclass(frozen=True, slots=True)
class RecordClass:
    definition: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Imported:
    """Something from a module the model may import, or a builtin, by its full name."""

    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """An attribute of an object that can only be called."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class ThreadCall:
    """An entry of the `threads` list: a function and the arguments it starts with."""

    function: Function
    arguments: Mapping[str, Value]


@dataclass(eq=False, slots=True)
class Draft:
    """`self` inside an `__init__`: the fields set so far."""

    fields: dict[str, tuple[int, Blueprint]]

    @property
    def size(self) -> int:
        return sum(blueprint.shape.size for _, blueprint in self.fields.values())


@dataclass(frozen=True, slots=True)
class DraftField:
    """A synchronization object of a record that is being made."""

    draft: Draft
    offset: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Guard:
    """What a `with` block enters: an object, and the way in which it is held (`read`, `write`)."""

    owner: Reference
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Python's None."""

    function: ast.FunctionDef | None = None
    """A function that returns a value on some ways only: this is what the others give."""


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda: the predicate of `wait_for`."""

    definition: ast.Lambda


Value: TypeAlias = (
    Number
    | Reference
    | ThreadHandle
    | Sequence
    | Interval
    | Function
    | RecordClass
    | Imported
    | Method
    | ThreadCall
    | Draft
    | DraftField
    | Guard
    | Text
    | Nothing
    | Closure
    | Shape
    | Blueprint
)


def kind_of(value: Value) -> str:
    """Describe the kind of a value, for error messages."""
    match value:
        case Number():
            return "a number"
        case Reference(shape) | Blueprint(shape) | DraftField(_, _, shape):
            return f"an object ({shape.title})"
        case ThreadHandle():
            return "a thread"
        case Sequence(is_tuple=is_tuple):
            return "a tuple" if is_tuple else "a list"
        case Interval():
            return "a range"
        case Function(definition):
            return f"the function `{definition.name}`"
        case RecordClass(definition):
            return f"the class `{definition.name}`"
        case Imported(path):
            return f"`{path.removeprefix('builtins.')}`"
        case Method(_, name):
            return f"the method `{name}`"
        case Text():
            return "a string"
        case Nothing(function):
            if function is None:
                return "None"
            name, line = function.name, function.lineno
            return f"None, which `{name}` (line {line}) gives where it ends without `return`"
        case Closure():
            return "a lambda"
        case _:
            return "a type"


def explain_no_number(value: Value, title: str) -> str:
    """Explain why a value is no number."""
    if isinstance(value, Nothing) and value.function is not None:
        name, line = value.function.name, value.function.lineno
        return f"`{name}` can end without `return` (line {line}), so `{title}` may be None"
    return f"`{title}` is {kind_of(value)}, not a number"
