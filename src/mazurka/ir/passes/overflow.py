"""Refuses arithmetic that may leave the 64-bit numbers.

Python's numbers have no limit, those of the intermediate representation wrap around.  Where
the difference could be seen, a verdict would be about another program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mazurka.errors import UnsupportedError
from mazurka.ir.expressions import Binary, Conditional, Expr, Unary, children, walk
from mazurka.ir.program import Assign, Edge, Program
from mazurka.ir.values.evaluation import Lookup, ValueSet
from mazurka.ir.values.facts import Facts
from mazurka.ir.values.intervals import binary_bounds, fits, unary_bounds

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "shl": "<<", "floordiv": "//", "div": "/",
    "neg": "-", "abs": "abs",
}  # fmt: skip


def refuse_overflow(
    program: Program, at: Sequence[Mapping[int, Mapping[int, ValueSet]]], lookup: Lookup
) -> None:
    """Raise an error for the first edge on which a result may need more than 64 bits."""
    for thread, reached in zip(program.threads, at, strict=True):
        for edge in thread.edges:
            if edge.source in reached and any(map(_at_risk, _expressions(edge))):
                _refuse(program, edge, Facts(dict(reached[edge.source]), lookup, 1, True))


def _expressions(edge: Edge) -> list[Expr]:
    expressions = [] if edge.guard is None else [edge.guard]
    for operation in edge.operations:
        if isinstance(operation, Assign):
            expressions += (operation.address, operation.value)
        else:
            expressions.append(operation.condition)
    return expressions


def _at_risk(expr: Expr) -> bool:
    return any(isinstance(e, Binary | Unary) and e.operator in _SYMBOLS for e in walk(expr))


def _refuse(program: Program, edge: Edge, facts: Facts) -> None:
    symbol = None if edge.guard is None else _exceeding(edge.guard, facts)
    possible = edge.guard is None or facts.assume(edge.guard)
    facts.choices = edge.choices
    for operation in edge.operations:
        if symbol is not None or not possible:
            break
        if isinstance(operation, Assign):
            symbol = _exceeding(operation.address, facts) or _exceeding(operation.value, facts)
        else:
            symbol = _exceeding(operation.condition, facts)
        possible = facts.perform(operation, program.cells, lambda address, values: None)
    if symbol is not None:
        raise UnsupportedError.at(
            edge.span,
            f"the result of `{symbol}` may exceed 64 bits here; declare smaller ranges for the "
            "variables it is made of, or keep it small with `%`",
        )


def _exceeding(expr: Expr, facts: Facts) -> str | None:
    """The symbol of an operator in `expr` whose result may not fit."""
    if not _at_risk(expr):
        return None
    if isinstance(expr, Conditional):
        return _exceeding_conditional(expr, facts)
    for child in children(expr):
        if (symbol := _exceeding(child, facts)) is not None:
            return symbol
    if isinstance(expr, Unary) and expr.operator in _SYMBOLS:
        values = facts.values(expr.operand)
        bounds = unary_bounds(expr.operator, (values.low, values.high))
        return None if values.is_empty or fits(bounds) else _SYMBOLS[expr.operator]
    if isinstance(expr, Binary) and expr.operator in _SYMBOLS:
        left, right = facts.values(expr.left), facts.values(expr.right)
        if left.is_empty or right.is_empty:
            return None
        ends = binary_bounds(expr.operator, (left.low, left.high), (right.low, right.high))
        return None if ends is None or fits(ends) else _SYMBOLS[expr.operator]
    return None


def _exceeding_conditional(expr: Conditional, facts: Facts) -> str | None:
    symbol = _exceeding(expr.test, facts)
    for branch, outcome in ((expr.then, True), (expr.otherwise, False)):
        inside = facts.copy()
        if symbol is None and inside.assume(expr.test, outcome):
            symbol = _exceeding(branch, inside)
    return symbol
