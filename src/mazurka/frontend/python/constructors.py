"""Making objects: `Array(...)`, and one of whatever a type expression names."""

from __future__ import annotations

import ast

from mazurka.frontend.python.arguments import match_arguments
from mazurka.frontend.python.containers import as_array
from mazurka.frontend.python.lowering import CALLS, Lowering, callable_name
from mazurka.frontend.python.shapes import (
    BOOLEAN,
    INTEGER,
    ArrayShape,
    Blueprint,
    NumberShape,
    Shape,
)
from mazurka.frontend.python.values import (
    Imported,
    Number,
    RecordClass,
    Sequence,
    Value,
    kind_of,
)
from mazurka.ir.expressions import Const, Expr

MOST_ELEMENTS = 100_000


def blueprint_of(low: Lowering, kind: Value, node: ast.AST) -> Blueprint:
    """A new object of a type that an expression names, made without arguments."""
    match kind:
        case Blueprint():
            return kind
        case NumberShape(low=first, high=last, inferred=False) if not first <= 0 <= last:
            return Blueprint(kind, (Const(first),))
        case Shape():
            return Blueprint.default(kind)
        case Imported("mazurka.model.Int" | "builtins.int"):
            return Blueprint.default(INTEGER)
        case Imported("mazurka.model.Bool" | "builtins.bool"):
            return Blueprint.default(BOOLEAN)
        case Imported(path) if path in CALLS:
            made = CALLS[path](low, _bare_call(node))
            if isinstance(made, Blueprint):
                return made
        case RecordClass():
            from mazurka.frontend.python.records import instantiate

            return instantiate(low, kind.definition, None)
    raise low.refuse(node, f"`{ast.unparse(node)}` is {kind_of(kind)}, not a type of objects")


def _bare_call(node: ast.AST) -> ast.Call:
    call = ast.Call(ast.Name("constructor", ast.Load()), [], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


@callable_name("mazurka.model.Array")
def _array(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("type", "length", "initial"), "Array")
    if "type" not in given or "length" not in given:
        raise low.refuse(node, "an array is written `Array(Type, length)`")
    one = blueprint_of(low, low.value(given["type"]), given["type"])
    length = low.constant(given["length"], "the length of an Array")
    if not 0 <= length * max(one.shape.size, 1) <= MOST_ELEMENTS:
        raise low.refuse(node, f"an Array of {length} elements is not possible here")
    shape = ArrayShape(one.shape, length)
    if "initial" not in given:
        return Blueprint(shape, one.initials * length)
    return Blueprint(shape, _initials(low, one.shape, length, given["initial"]))


def _initials(low: Lowering, shape: Shape, length: int, node: ast.expr) -> tuple[Expr, ...]:
    value = low.value(node)
    if isinstance(value, Number) and isinstance(shape, NumberShape):
        return (value.expr,) * length
    items = as_array(value.items) if isinstance(value, Sequence) else None
    if items is None or not isinstance(items.shape, ArrayShape):
        raise low.refuse(node, f"`{ast.unparse(node)}` does not give {length} first values")
    if items.shape.length != length or items.shape.size != length * shape.size:
        raise low.refuse(node, f"{items.shape.length} first values for an Array of length {length}")
    return items.initials
