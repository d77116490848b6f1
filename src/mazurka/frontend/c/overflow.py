"""Checks of arithmetic whose result has no place in its signed type (C11, 6.5 §5).

Signed `+`, `-`, `*` and `<<` are checked with `--overflow`; a quotient that is too large
(`INT_MIN / -1`, and the remainder that comes with it) always, since processors stop there as they
do at a division by zero.  Unsigned arithmetic wraps around, and so does what atomic functions do
(C11, 7.17.7.5); a conversion to a narrower type has a result of its own, which is no overflow.
"""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.types import IntegerType, bare
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.ir.expressions import ONE, ZERO, Const, Convert, Expr, negate
from mazurka.ir.program import Check, Fault, Kind, Span

CHECKED = frozenset({"+", "-", "*", "<<"})
"""The operators that `--overflow` is about."""
DIVISIONS = frozenset({"/", "%"})


def check_overflow(
    low: CLowering, operator: str, left: Scalar, right: Scalar, span: Span, text: str
) -> None:
    """Check that the result of an operator on two integers fits in their type."""
    inner = bare(left.type)
    if not isinstance(inner, IntegerType) or not inner.signed:
        return
    asked = low.machine.limits.overflow
    if operator not in DIVISIONS and not (asked and operator in CHECKED):
        return
    message = f"`{text}` overflows"
    fault = Fault.RANGE if asked else Fault.EXCEPTION
    if left.constant is not None and right.constant is not None:
        if not _fits(operator, left.constant, right.constant, inner.bits):
            _fail(low, fault, message, span)
        return
    checks = _find_checks(low, operator, left, right, inner.bits, span)
    if checks:
        operations = [Check(each, fault, message) for each in checks]
        low.step(Kind.LOCAL, span, text, operations=operations)


def _fail(low: CLowering, fault: Fault, message: str, span: Span) -> None:
    if low.automaton is None:
        raise UnsupportedError.at(span, f"{message}: this is no constant of C")
    if low.reachable:
        low.fail(fault, message, span)


def _fits(operator: str, left: int, right: int, bits: int) -> bool:
    """Whether the result of two known numbers fits; what fails for another reason does."""
    limit = 1 << (bits - 1)
    match operator:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case "<<":
            return not 0 <= right < bits or (left >= 0 and left << right < limit)
        case _:
            return not (left == -limit and right == -1)
    return -limit <= result < limit


def _find_checks(
    low: CLowering, operator: str, left: Scalar, right: Scalar, bits: int, span: Span
) -> list[Expr]:
    """What must hold of operands of which one is not known."""
    limit = 1 << (bits - 1)
    if operator in DIVISIONS:
        if right.constant not in (None, -1) or left.constant not in (None, -limit):
            return []
        return [either(binary("ne", left.expr, Const(-limit)), binary("ne", right.expr, Const(-1)))]
    if operator == "<<":
        room = binary("shr", Const(limit - 1), right.expr)
        return [binary("ge", left.expr, ZERO), binary("le", left.expr, room)]
    if bits < 64:
        word = {"+": "add", "-": "sub", "*": "mul"}[operator]
        exact = binary(word, left.expr, right.expr)
        return [binary("ge", exact, Const(-limit)), binary("lt", exact, Const(limit))]
    return _find_wide_checks(low, operator, left, right, span)


def _find_wide_checks(
    low: CLowering, operator: str, left: Scalar, right: Scalar, span: Span
) -> list[Expr]:
    """The same for 64 bits, which have no wider type: look at what wrapping around gives."""
    one, two = (low.hold(each.expr, span, each.type) for each in (left, right))
    lowest, minus = Const(-(1 << 63)), Const(-1)
    if operator == "*":
        product = low.hold(Convert(binary("mul", one, two), 64, True), span, left.type)
        divisor = conditional(binary("eq", one, ZERO), ONE, one)
        return [
            negate(both(binary("eq", one, minus), binary("eq", two, lowest))),
            negate(both(binary("eq", two, minus), binary("eq", one, lowest))),
            either(binary("eq", one, ZERO), binary("eq", binary("div", product, divisor), two)),
        ]
    word = "add" if operator == "+" else "sub"
    result = low.hold(Convert(binary(word, one, two), 64, True), span, left.type)
    # A sum is wrong if its sign is that of neither operand; a difference, if its sign is not the
    # left one's while the operands' signs differ.
    apart = binary("xor", result if operator == "+" else one, two)
    changed = binary("and", binary("xor", result, one), apart)
    return [binary("ge", changed, ZERO)]
