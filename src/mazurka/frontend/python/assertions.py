"""`assert`, and what assertions and invariants have in common: conditions and their messages."""

from __future__ import annotations

import ast

from mazurka.frontend.python.expressions import look_up, truth_of
from mazurka.frontend.python.lowering import Lowering, statement
from mazurka.frontend.python.survey import find_free_names
from mazurka.frontend.python.values import Number
from mazurka.ir.expressions import Const
from mazurka.ir.program import Check, Fault, Kind


@statement(ast.Assert)
def _assert(low: Lowering, node: ast.Assert) -> None:
    refuse_tuple(low, node.test)
    condition = truth_of(low, low.value(node.test), node.test)
    if node.msg is not None:
        check_message(low, node.msg)
    if isinstance(condition, Const) and condition.value:
        return
    message = f"assertion failed: {ast.unparse(node.test)}"
    if node.msg is not None:
        message = read_message(node.msg)
    if isinstance(condition, Const):
        message += _constants(low, node.test)
    low.step(
        Kind.ASSERT,
        low.span(node),
        f"assert {ast.unparse(node.test)}"[:100],
        operations=(Check(condition, Fault.ASSERT, message),),
    )
    if isinstance(condition, Const):
        low.require_automaton().current = None  # it fails, and its thread ends here


def refuse_tuple(low: Lowering, test: ast.expr) -> None:
    """Refuse `assert (x == 1, "message")`: a tuple is always true."""
    if isinstance(test, ast.Tuple) and test.elts:
        meant = ", ".join(map(ast.unparse, test.elts))
        raise low.refuse(
            test,
            f"`{ast.unparse(test)}` is a tuple, which always holds; write `{meant}` without the"
            " parentheses around it",
        )


def check_message(low: Lowering, message: ast.expr) -> None:
    """Refuse undefined names in a message, although messages are not computed."""
    for name in sorted(find_free_names(message)):
        if not (low.frames and low.frame.facts.is_local(name)):
            look_up(low, name, message)


def _constants(low: Lowering, test: ast.expr) -> str:
    """Describe the constants in a condition, which no step of a trace shows."""
    known: list[str] = []
    free = find_free_names(test)
    used = [inner for inner in ast.walk(test) if isinstance(inner, ast.Name) and inner.id in free]
    used.sort(key=lambda inner: (inner.lineno, inner.col_offset))
    for name in dict.fromkeys(inner.id for inner in used):
        value = low.frame.variables.get(name)
        if value is None and not low.frame.facts.is_local(name):
            value = low.program.globals.get(name)
        if isinstance(value, Number) and value.constant is not None:
            shown = bool(value.constant) if value.boolean else value.constant
            known.append(f"{name} is {shown}")
    return f" ({', '.join(known)})" if known else ""


def read_message(node: ast.expr) -> str:
    """The text of a message; an f-string keeps its expressions as they are written."""
    match node:
        case ast.Constant(value):
            return str(value)
        case ast.JoinedStr(values):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"{{{_source(part)}}}"
                for part in values
            )
        case _:
            return f"{{{ast.unparse(node)}}}"


def _source(part: ast.expr) -> str:
    return ast.unparse(part.value if isinstance(part, ast.FormattedValue) else part)
