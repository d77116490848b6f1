"""Parameters: bound to what they stand for, or given a cell where the function changes them."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.assignment import bind_cell, create_object
from mazurka.frontend.python.context import Frame
from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.values import Handle, Number, Value
from mazurka.ir.expressions import Const, Expr, Load


def bind_parameter(low: Lowering, frame: Frame, name: str, value: Value, node: ast.AST) -> None:
    """The caller's scalars cannot change during the call, so a plain one needs no copy."""
    if isinstance(value, Blueprint):
        value = create_object(low, name, value, node)
    if name not in frame.facts.stores and _is_plain(value):
        frame.variables[name] = value
        return
    low.frames.append(frame)
    bind_cell(low, name, value, node)
    low.frames.pop()


def _is_plain(value: Value) -> bool:
    match value:
        case Number(expr) | Reference(_, expr) | Handle(expr):
            return _is_atom(expr)
        case _:
            return True


def _is_atom(expr: Expr) -> bool:
    return isinstance(expr, Const) or (isinstance(expr, Load) and isinstance(expr.address, Const))
