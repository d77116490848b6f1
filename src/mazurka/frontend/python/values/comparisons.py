"""Compare values: numbers, tuples and frozen dataclasses of numbers, and the identity of objects.

Python evaluates both sides of a comparison before it compares, so all reads of the elements have
happened by then.  Tuples are compared at the first element at which they differ; without one, the
shorter tuple is the smaller.  Instances of one dataclass are equal if their fields are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence as Items

from mazurka.frontend.kit.arithmetic import binary, conditional, unary
from mazurka.frontend.kit.shapes import Blueprint, NumberShape, RecordShape, Reference
from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.survey import is_frozen
from mazurka.frontend.python.values.kinds import (
    Number,
    Sequence,
    Value,
)
from mazurka.frontend.python.values.owned import read_parts
from mazurka.ir.expressions import Const, Expr

STRICT = {"lt": "lt", "le": "lt", "gt": "gt", "ge": "gt"}
"""What decides at the first elements that differ."""


def compare(
    low: Lowering, operator: str, x: Value, y: Value, nodes: tuple[ast.expr, ast.expr]
) -> Expr:
    """Compare two values that have been evaluated, as 0 or 1."""
    for value, other, node in ((x, y, nodes[0]), (y, x, nodes[1])):
        if isinstance(value, Sequence) and isinstance(other, Sequence):
            continue
        if _record_of(value) is not None and _record_of(other) is not None:
            continue
        if not isinstance(value, Number):
            raise low.refuse_no_number(node, value)
    match x, y:
        case Number(first), Number(second):
            return binary(operator, first, second)
        case Sequence(items), Sequence(others):
            for value, node in ((x, nodes[0]), (y, nodes[1])):
                if not (isinstance(value, Sequence) and value.is_tuple):
                    raise low.refuse(
                        node, f"`{ast.unparse(node)}` is a list; compare tuples, or items in a loop"
                    )
            return _compare_items(low, operator, items, others, nodes)
        case _:
            return _compare_records(low, operator, x, y, nodes)


def _compare_items(
    low: Lowering,
    operator: str,
    items: Items[Value],
    others: Items[Value],
    nodes: tuple[ast.expr, ast.expr],
) -> Expr:
    if operator in ("eq", "ne"):
        equal: Expr = Const(int(len(items) == len(others)))
        if len(items) == len(others):
            for item, other in zip(items[::-1], others[::-1], strict=True):
                equal = conditional(compare(low, "eq", item, other, nodes), equal, Const(0))
        return equal if operator == "eq" else unary("not", equal)
    result = binary(operator, Const(len(items)), Const(len(others)))
    both = list(zip(items, others, strict=False))
    for item, other in reversed(both):
        same = compare(low, "eq", item, other, nodes)
        differs = compare(low, STRICT[operator], item, other, nodes)
        result = conditional(same, result, differs)
    return result


def _record_of(value: Value) -> RecordShape | None:
    match value:
        case Reference(RecordShape() as shape) | Blueprint(RecordShape() as shape):
            return shape
        case _:
            return None


def _compare_records(
    low: Lowering, operator: str, x: Value, y: Value, nodes: tuple[ast.expr, ast.expr]
) -> Expr:
    """Compare instances of frozen dataclasses by their fields, as the generated `__eq__` does."""
    first, second = _record_of(x), _record_of(y)
    assert first is not None
    assert second is not None
    for shape, node in ((first, nodes[0]), (second, nodes[1])):
        _check_comparable(low, operator, shape, node)
    if first.name != second.name:
        if operator not in ("eq", "ne"):
            names = f"`{first.name}` and `{second.name}`"
            raise low.refuse(nodes[0], f"{names} have no order; compare their fields")
        return Const(int(operator == "ne"))
    fields = [read_parts(low, value, node) for value, node in zip((x, y), nodes, strict=True)]
    return _compare_items(low, operator, fields[0], fields[1], nodes)


def _check_comparable(low: Lowering, operator: str, shape: RecordShape, node: ast.expr) -> None:
    """Refuse a class that does not compare by its fields, or has no order."""
    definition = low.program.survey.classes[shape.name]
    options: dict[str, object] = {}
    for decorator in definition.decorator_list:
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                known = isinstance(keyword.value, ast.Constant)
                options[keyword.arg or ""] = keyword.value.value if known else None  # type: ignore[attr-defined]
    if not is_frozen(definition):
        raise low.refuse(node, f"`{ast.unparse(node)}` is an object ({shape.title}), not a number")
    own = any(
        (isinstance(part, ast.FunctionDef) and part.name in ("__eq__", "__lt__", "__le__"))
        or (isinstance(part, ast.AnnAssign) and _is_left_out(part.value))
        for part in definition.body
    )
    if own or options.get("eq", True) is not True:
        raise low.refuse(
            node, f"`{shape.name}` does not compare all of its fields; compare those that count"
        )
    if operator not in ("eq", "ne") and options.get("order") is not True:
        raise low.refuse(
            node, f"`{shape.name}` has no order; write `@dataclass(frozen=True, order=True)`"
        )
    if not all(isinstance(field, NumberShape) for _, field in shape.fields):
        raise low.refuse(node, f"only records of numbers are compared; `{shape.name}` has others")


def _is_left_out(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Call) and any(
        keyword.arg == "compare" for keyword in default.keywords
    )
