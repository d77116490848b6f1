"""C's arithmetic on values of the intermediate representation.

A value is held as a number of its type; an unsigned one of 64 bits as the signed number with the
same bits.  Each result is converted to its type, which also says that wrapping around is meant.
"""

from __future__ import annotations

from mazurka.frontend.c.types import CType, IntegerType, PointerType, SyncType, bare
from mazurka.frontend.kit.arithmetic import binary, unary
from mazurka.ir.expressions import Binary, Const, Convert, Expr, is_truth, truth

_WORDS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "<<": "shl", ">>": "shr",
    "&": "and", "|": "or", "^": "xor", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt",
    ">=": "ge",
}  # fmt: skip
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_WRAPPING = frozenset({"+", "-", "*", "<<"})


def wrap_number(value: int, bits: int, signed: bool) -> int:
    """The number with these low bits, as it is held."""
    value &= (1 << bits) - 1
    if (signed or bits == 64) and value >> (bits - 1):
        value -= 1 << bits
    return value


def is_wide_unsigned(type_: CType) -> bool:
    """Whether numbers of the type are held as signed ones with the same bits."""
    inner = bare(type_)
    if isinstance(inner, IntegerType):
        return inner.bits >= 64 and not inner.signed
    return isinstance(inner, SyncType | PointerType) and False


def unsigned_value(value: int, type_: CType) -> int:
    """The number that a held number stands for."""
    return value & ((1 << 64) - 1) if is_wide_unsigned(type_) else value


def convert_number(expr: Expr, old: CType, new: IntegerType) -> Expr:
    """Convert an integer to another type."""
    if new.boolean:
        if isinstance(expr, Const):
            return Const(int(expr.value != 0))
        return truth(expr)
    if isinstance(expr, Const):
        return Const(wrap_number(expr.value, new.bits, new.signed))
    if new.bits >= 64 or (is_truth(expr) and new.bits > 1):
        return expr
    if isinstance(old, IntegerType) and _contains(new, old):
        return expr
    return Convert(expr, new.bits, new.signed)


def _contains(new: IntegerType, old: IntegerType) -> bool:
    if old.boolean:
        return True
    if old.bits >= 64 and not old.signed:
        return new.bits >= 64
    if new.signed:
        return new.bits > old.bits or (new.bits == old.bits and old.signed)
    return not old.signed and new.bits >= old.bits


def narrow(expr: Expr, bits: int, signed: bool) -> Expr:
    """The low bits of a number, as a number of that width."""
    if isinstance(expr, Const):
        return Const(wrap_number(expr.value, bits, signed))
    return Convert(expr, bits, signed)


def compute(operator: str, left: Expr, right: Expr, type_: CType) -> Expr:
    """Apply an operator to operands of the type; comparisons are 0 or 1."""
    inner = bare(type_)
    number = inner if isinstance(inner, IntegerType) else IntegerType("long", 64, True)
    wide = number.bits >= 64 and not number.signed
    if isinstance(left, Const) and isinstance(right, Const):
        known = _fold(operator, left.value, right.value, number)
        if known is not None:
            return Const(known)
    word = _WORDS[operator]
    if wide:
        if operator in ("<", "<="):
            return Binary("ult" if operator == "<" else "ule", left, right)
        if operator in (">", ">="):
            return Binary("ult" if operator == ">" else "ule", right, left)
        word = {"div": "udiv", "rem": "urem", "shr": "lshr"}.get(word, word)
    result = binary(word, left, right)
    if operator in _WRAPPING or (operator == "/" and number.signed):
        if isinstance(result, Const):
            return Const(wrap_number(result.value, number.bits, number.signed))
        if result in (left, right):
            return result
        return Convert(result, number.bits, number.signed)
    return result


def _fold(operator: str, left: int, right: int, number: IntegerType) -> int | None:
    """Work out a constant; None where it would fail or is not known."""
    if not number.signed:
        left, right = left & ((1 << number.bits) - 1), right & ((1 << number.bits) - 1)
    match operator:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case "/" | "%" if right:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            result = quotient if operator == "/" else left - quotient * right
        case "<<" if 0 <= right < number.bits:
            result = left << right
        case ">>" if 0 <= right < number.bits:
            result = left >> right
        case "&":
            result = left & right
        case "|":
            result = left | right
        case "^":
            result = left ^ right
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case _:
            return None
    return wrap_number(result, number.bits, number.signed)


def complement(expr: Expr, type_: IntegerType) -> Expr:
    """`~x`."""
    return narrow(unary("invert", expr), type_.bits, type_.signed)


def opposite(expr: Expr, type_: IntegerType) -> Expr:
    """`-x`."""
    return narrow(unary("neg", expr), type_.bits, type_.signed)


def turn_bytes(expr: Expr, type_: IntegerType) -> Expr:
    """The number with its bytes in the reverse order; the type is unsigned."""
    result: Expr = Const(0)
    for shift in range(0, type_.bits, 8):
        byte = compute("&", compute(">>", expr, Const(shift), type_), Const(255), type_)
        moved = compute("<<", byte, Const(type_.bits - 8 - shift), type_)
        result = compute("|", result, moved, type_) if shift else moved
    return result
