"""Build IR expressions, working out constants and addresses on the way.

A front end must know lengths, loop bounds and addresses while it elaborates; folding here
keeps such values constant without a separate evaluator.  Anything that could fault (a division
by zero, a shift out of range, an index out of range) is left for the program to meet when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mazurka.ir.arithmetic import BINARY, EXACT, quotient
from mazurka.ir.expressions import (
    DIVISIONS,
    ONE,
    SHIFTS,
    ZERO,
    Binary,
    Conditional,
    Const,
    Element,
    Expr,
    Unary,
    negate,
    truth,
)

_SIGN = 1 << 63

_BINARY = BINARY | EXACT | {"div": quotient}
_UNARY: dict[str, Callable[[int], int]] = {
    "neg": lambda x: -x,
    "not": lambda x: int(x == 0),
    "invert": lambda x: ~x,
    "abs": abs,
}


def fits(value: int) -> bool:
    """Whether the number can be represented in 64 bits."""
    return -_SIGN <= value < _SIGN


def binary(operator: str, left: Expr, right: Expr) -> Expr:
    """Build an operation; `BINARY_OPERATORS` in `mazurka.ir.expressions` has the operators."""
    if isinstance(left, Const) and isinstance(right, Const) and operator in _BINARY:
        faulty = (operator in DIVISIONS and right.value == 0) or (
            operator in SHIFTS and not 0 <= right.value < 64
        )
        if not faulty:
            result = _BINARY[operator](left.value, right.value)
            if fits(result):
                return Const(result)
    if operator in ("add", "sub") and right == ZERO:
        return left
    if operator == "add" and left == ZERO:
        return right
    return Binary(operator, left, right)


def unary(operator: str, operand: Expr) -> Expr:
    """Build an operation; `UNARY_OPERATORS` in `mazurka.ir.expressions` has the operators."""
    if isinstance(operand, Const) and operator in _UNARY:
        result = _UNARY[operator](operand.value)
        if fits(result):
            return Const(result)
    return negate(operand) if operator == "not" else Unary(operator, operand)


def conditional(test: Expr, then: Expr, otherwise: Expr) -> Expr:
    if isinstance(test, Const):
        return then if test.value else otherwise
    if then == otherwise and isinstance(then, Const):
        return then
    return Conditional(test, then, otherwise)


def boolean(expr: Expr) -> Expr:
    """Convert an expression to 0 or 1."""
    return Const(int(expr.value != 0)) if isinstance(expr, Const) else truth(expr)


def both(left: Expr, right: Expr) -> Expr:
    """Build `left and right` as 0 or 1; the right side counts only where the left holds."""
    if right == ONE:
        return boolean(left)
    return conditional(left, boolean(right), ZERO)


def either(left: Expr, right: Expr) -> Expr:
    """Build `left or right` as 0 or 1; the right side counts only where the left fails."""
    if right == ZERO:
        return boolean(left)
    return conditional(left, ONE, boolean(right))


def element(base: Expr, index: Expr, length: int, stride: int) -> Expr:
    """Build the address of an element; an index out of range is met when the program runs."""
    if isinstance(index, Const) and isinstance(base, Const) and 0 <= index.value < length:
        return Const(base.value + index.value * stride)
    return Element(base, index, length, stride)


def select(index: Expr, items: Sequence[Expr]) -> Expr:
    """Build a choice of the item at a position that is known to be in range."""
    result = items[-1]
    for position in range(len(items) - 2, -1, -1):
        result = conditional(binary("eq", index, Const(position)), items[position], result)
    return result


def total(items: Sequence[Expr]) -> Expr:
    """Build the sum of the items."""
    result: Expr = ZERO
    for item in items:
        result = binary("add", result, item)
    return result
