"""Making arrays: `Array(Type, length)`."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.shapes import (
    ArrayShape,
    Blueprint,
    NumberShape,
    Shape,
)
from mazurka.frontend.python.arguments import match_arguments
from mazurka.frontend.python.containers import as_array
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.records import blueprint_of
from mazurka.frontend.python.values import (
    Number,
    Sequence,
    Value,
)
from mazurka.ir.expressions import Expr

MOST_ELEMENTS = 100_000


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
