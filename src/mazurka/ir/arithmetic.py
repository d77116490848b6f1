"""The operators of the intermediate representation, on 64-bit numbers.

`docs/semantics.md` defines their meaning.  `binary` takes any operands; the functions in
`BINARY` must not be called with operands that are faults.
"""

from __future__ import annotations

from collections.abc import Callable

from mazurka.ir.expressions import DIVISIONS, SHIFTS

_HALF = 2**63
_MODULUS = 2**64


def wrap(value: int) -> int:
    """Return the 64-bit two's complement number with the low bits of `value`."""
    if -_HALF <= value < _HALF:
        return value
    return (value + _HALF) % _MODULUS - _HALF


def convert(value: int, width: int, signed: bool) -> int:
    """Read the low `width` bits of `value` as a signed or an unsigned number."""
    bits = value & ((1 << width) - 1)
    if signed and bits >> (width - 1):
        bits -= 1 << width
    return wrap(bits)


def _unsigned(value: int) -> int:
    return value % _MODULUS


def quotient(left: int, right: int) -> int:
    """Divide and round towards zero, as in C."""
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


UNARY: dict[str, Callable[[int], int]] = {
    "neg": lambda x: wrap(-x),
    "not": lambda x: int(x == 0),
    "invert": lambda x: ~x,
    "abs": lambda x: wrap(abs(x)),
}

EXACT: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "floordiv": lambda x, y: x // y,
    "shl": lambda x, y: x << y,
}
"""Operators whose results may need more than 64 bits, without wrapping around."""

BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: wrap(x + y),
    "sub": lambda x, y: wrap(x - y),
    "mul": lambda x, y: wrap(x * y),
    "floordiv": lambda x, y: wrap(x // y),
    "mod": lambda x, y: x % y,
    "div": lambda x, y: wrap(quotient(x, y)),
    "rem": lambda x, y: x - y * quotient(x, y),
    "udiv": lambda x, y: wrap(_unsigned(x) // _unsigned(y)),
    "urem": lambda x, y: wrap(_unsigned(x) % _unsigned(y)),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: wrap(x << y),
    "shr": lambda x, y: x >> y,
    "lshr": lambda x, y: wrap(_unsigned(x) >> y),
    "eq": lambda x, y: int(x == y),
    "ne": lambda x, y: int(x != y),
    "lt": lambda x, y: int(x < y),
    "le": lambda x, y: int(x <= y),
    "gt": lambda x, y: int(x > y),
    "ge": lambda x, y: int(x >= y),
    "ult": lambda x, y: int(_unsigned(x) < _unsigned(y)),
    "ule": lambda x, y: int(_unsigned(x) <= _unsigned(y)),
    "min": min,
    "max": max,
}


def binary(operator: str, left: int, right: int) -> int | None:
    """Apply an operator; None if that is a fault: a zero divisor, a shift outside 0..63."""
    if operator in DIVISIONS and right == 0:
        return None
    if operator in SHIFTS and not 0 <= right <= 63:
        return None
    return BINARY[operator](left, right)
