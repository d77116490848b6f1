"""Interval arithmetic: bounds of an operator's results, for operands between given bounds.

The bounds are those of the mathematical results, *before* wrapping around: a caller compares
them with `SMALLEST` and `LARGEST` to see whether 64 bits suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mazurka.ir.arithmetic import EXACT, quotient
from mazurka.ir.expressions import DIVISIONS, SHIFTS

SMALLEST = -(2**63)
LARGEST = 2**63 - 1

Bounds: TypeAlias = tuple[int, int]


_EXACT: dict[str, Callable[[int, int], int]] = {
    **EXACT,
    "min": min,
    "max": max,
    "div": quotient,
    "shr": lambda x, y: x >> y,
    "lshr": lambda x, y: x >> y,
}
"""Operators without wrapping; each is monotone in either argument while the other one is fixed
and, for divisions, while the divisor keeps its sign."""


def fits(bounds: Bounds) -> bool:
    """Whether all numbers between the bounds are 64-bit numbers."""
    return bounds[0] >= SMALLEST and bounds[1] <= LARGEST


def unary_bounds(operator: str, operand: Bounds) -> Bounds:
    low, high = operand
    if operator == "neg":
        return -high, -low
    if operator == "invert":
        return ~high, ~low
    if operator == "not":
        return int(low == high == 0), int(low <= 0 <= high)
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def binary_bounds(operator: str, left: Bounds, right: Bounds) -> Bounds | None:
    """Return bounds of all results that are not faults, before wrapping; None if all are."""
    if operator in ("add", "sub", "mul", "min", "max"):
        return _corners(_EXACT[operator], left, right)
    if operator in ("and", "or", "xor"):
        return _bitwise_bounds(operator, left, right)
    if operator in SHIFTS:
        return _shift_bounds(operator, left, right)
    if operator in ("udiv", "urem"):
        return _unsigned_bounds(operator, left, right)
    if operator in DIVISIONS:
        return _division_bounds(operator, left, right)
    return 0, 1


def _corners(function: Callable[[int, int], int], left: Bounds, right: Bounds) -> Bounds:
    """Return bounds for a function that is monotone in each argument while the other is fixed."""
    results = [function(x, y) for x in left for y in right]
    return min(results), max(results)


def _division_bounds(operator: str, left: Bounds, right: Bounds) -> Bounds | None:
    # A division is monotone only while its divisor keeps its sign.
    parts = []
    for low, high in ((right[0], min(right[1], -1)), (max(right[0], 1), right[1])):
        if low > high:
            continue
        if operator in ("floordiv", "div"):
            parts.append(_corners(_EXACT[operator], left, (low, high)))
        elif operator == "mod":
            parts.append(_modulo_bounds(left, (low, high)))
        else:
            parts.append(_remainder_bounds(left, max(abs(low), abs(high))))
    if not parts:
        return None
    return min(part[0] for part in parts), max(part[1] for part in parts)


def _modulo_bounds(left: Bounds, divisor: Bounds) -> Bounds:
    """Return bounds of Python's remainder, for a divisor of one sign."""
    if divisor[0] > 0:
        if left[0] >= 0 and left[1] < divisor[0]:
            return left
        return 0, (min(left[1], divisor[1] - 1) if left[0] >= 0 else divisor[1] - 1)
    if divisor[1] < left[0] and left[1] <= 0:
        return left
    return (max(left[0], divisor[0] + 1) if left[1] <= 0 else divisor[0] + 1), 0


def _remainder_bounds(left: Bounds, magnitude: int) -> Bounds:
    """Return bounds of C's remainder: it has the left operand's sign, and less magnitude."""
    low = max(left[0], 1 - magnitude) if left[0] < 0 else 0
    high = min(left[1], magnitude - 1) if left[1] > 0 else 0
    return low, high


def _unsigned_bounds(operator: str, left: Bounds, right: Bounds) -> Bounds | None:
    if right == (0, 0):
        return None
    if left[0] < 0 or right[0] < 0:
        return SMALLEST, LARGEST
    return _division_bounds("div" if operator == "udiv" else "rem", left, right)


def _bitwise_bounds(operator: str, left: Bounds, right: Bounds) -> Bounds:
    bits = max(end.bit_length() for end in (*left, *right))
    low, high = max(-(1 << bits), SMALLEST), min((1 << bits) - 1, LARGEST)
    if operator == "and":
        # An operand that is not negative is an upper bound, whatever the other one is.
        limits = [end for start, end in (left, right) if start >= 0]
        return (0, min(limits)) if limits else (low, high)
    if left[0] >= 0 and right[0] >= 0:
        return (max(left[0], right[0]) if operator == "or" else 0), high
    return low, high


def _shift_bounds(operator: str, left: Bounds, right: Bounds) -> Bounds | None:
    places = max(right[0], 0), min(right[1], 63)
    if places[0] > places[1]:
        return None
    if operator == "lshr" and left[0] < 0:
        return (SMALLEST, LARGEST) if places[0] == 0 else (0, (2**64 - 1) >> places[0])
    return _corners(_EXACT[operator], left, places)
