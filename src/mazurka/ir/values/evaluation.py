"""Abstract evaluation: the values that an expression can have.

Every operation errs on the larger side, so a value that `evaluate` leaves out cannot occur.
Evaluations that end in a fault contribute no value; `cannot_fault` tells whether there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TypeAlias

from mazurka.ir.arithmetic import BINARY, UNARY, convert, wrap
from mazurka.ir.expressions import (
    COMPARISONS,
    DIVISIONS,
    SHIFTS,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
)
from mazurka.ir.values.intervals import LARGEST, SMALLEST, Bounds, binary_bounds, fits, unary_bounds
from mazurka.ir.values.sets import (
    BOTH,
    EMPTY,
    FALSE,
    MOST_ADDRESSES,
    MOST_POINTS,
    TOP,
    TRUE,
    ValueSet,
    from_points,
    join_all,
    truth_of,
)

__all__ = [
    "EMPTY",
    "MOST_ADDRESSES",
    "MOST_CELLS",
    "MOST_POINTS",
    "TOP",
    "Lookup",
    "ValueSet",
    "apply_binary",
    "apply_convert",
    "apply_unary",
    "cannot_fault",
    "element",
    "evaluate",
    "from_points",
    "join_all",
    "load",
    "members",
    "truth_of",
]

MOST_CELLS = 16384
"""A load through an interval of addresses looks at this many cells at most."""

Lookup: TypeAlias = Callable[[int], ValueSet]
"""The values of the cell at an address; `EMPTY` where there is no such cell."""


def evaluate(expr: Expr, lookup: Lookup, choices: int = 1, saturate: bool = False) -> ValueSet:
    """All values that `expr` can have where each cell has one of the values of its lookup.

    With `saturate`, an interval that leaves the 64-bit numbers is cut off there instead of
    becoming `TOP`: right only for a caller who refuses programs in which that can happen.
    """
    match expr:
        case Const(value):
            return ValueSet(value, value, (value,))
        case Load(address):
            return load(evaluate(address, lookup, choices, saturate), lookup)
        case Binary(operator, left, right):
            first = evaluate(left, lookup, choices, saturate)
            second = evaluate(right, lookup, choices, saturate)
            return apply_binary(operator, first, second, saturate)
        case Conditional(test, then, otherwise):
            outcome = evaluate(test, lookup, choices, saturate)
            if outcome.is_empty:
                return EMPTY
            known = truth_of(outcome)
            if known is not None:
                return evaluate(then if known else otherwise, lookup, choices, saturate)
            first = evaluate(then, lookup, choices, saturate)
            second = evaluate(otherwise, lookup, choices, saturate)
            return first.join(second, max(_address_room(first), _address_room(second)))
        case Element(base, index, length, stride):
            first = evaluate(base, lookup, choices, saturate)
            second = evaluate(index, lookup, choices, saturate)
            return element(first, second, length, stride)
        case Unary(operator, operand):
            return apply_unary(operator, evaluate(operand, lookup, choices, saturate), saturate)
        case Convert(operand, width, signed):
            return apply_convert(evaluate(operand, lookup, choices, saturate), width, signed)
        case Choice():
            return ValueSet.interval(0, choices - 1)


def _address_room(values: ValueSet) -> int:
    """Sets that outgrew the common limit came from addresses and may remain listed."""
    listed = values.points is not None and len(values.points) > MOST_POINTS
    return MOST_ADDRESSES if listed else MOST_POINTS


def members(addresses: ValueSet) -> Iterable[int] | None:
    """The non-null addresses, one by one; None where they are too many."""
    if addresses.points is not None:
        return [address for address in addresses.points if address > 0]
    positive = addresses.clip(1, LARGEST)
    if positive.high - positive.low >= MOST_CELLS:
        return None
    return range(positive.low, positive.high + 1)


def load(addresses: ValueSet, lookup: Lookup) -> ValueSet:
    """The values of all cells at these addresses."""
    if addresses.is_constant:
        return lookup(addresses.low) if addresses.low > 0 else EMPTY
    cells = members(addresses)
    return TOP if cells is None else join_all(map(lookup, cells))


def element(base: ValueSet, index: ValueSet, length: int, stride: int) -> ValueSet:
    """The addresses of the elements whose index is in bounds."""
    index = index.clip(0, length - 1)
    if base.is_empty or index.is_empty:
        return EMPTY
    if base.is_constant and index.is_constant:
        return ValueSet.of(wrap(base.low + index.low * stride))
    indexes = index.points or range(index.low, index.high + 1)
    if base.points is not None and len(base.points) * len(indexes) <= MOST_ADDRESSES:
        places = (wrap(b + i * stride) for b in base.points for i in indexes)
        return from_points(places, MOST_ADDRESSES)
    return apply_binary("add", base, apply_binary("mul", index, ValueSet.of(stride)))


def _between(bounds: Bounds | None, saturate: bool) -> ValueSet:
    if bounds is None:
        return EMPTY
    if fits(bounds):
        return ValueSet.interval(*bounds)
    if not saturate:
        return TOP
    low, high = (min(max(end, SMALLEST), LARGEST) for end in bounds)
    return ValueSet.interval(low, high)


def apply_unary(operator: str, operand: ValueSet, saturate: bool = False) -> ValueSet:
    if operand.is_empty:
        return EMPTY
    if operand.points is not None:
        results = [UNARY[operator](point) for point in operand.points]
        return from_points(results, _address_room(operand))
    return _between(unary_bounds(operator, (operand.low, operand.high)), saturate)


def apply_binary(
    operator: str, left: ValueSet, right: ValueSet, saturate: bool = False
) -> ValueSet:
    if left.is_empty or right.is_empty:
        return EMPTY
    if operator in COMPARISONS:
        return _compare(operator, left, right)
    if operator in DIVISIONS:
        right = right.without(0)
    elif operator in SHIFTS:
        right = right.clip(0, 63)
    if left.is_constant and right.is_constant:
        result = BINARY[operator](left.low, right.low)
        return ValueSet(result, result, (result,))
    if operator in ("add", "sub") and left.is_whole and right.is_whole:
        # Sums of whole intervals have no gaps; there is no need to list them pair by pair.
        bounds = binary_bounds(operator, (left.low, left.high), (right.low, right.high))
        if bounds is not None and fits(bounds):
            return ValueSet.interval(*bounds)
    if (pairs := _pairs(left, right)) is not None:
        function = BINARY[operator]
        most = max(_address_room(left), _address_room(right))
        return from_points({function(x, y) for x, y in pairs}, most)
    if right.is_empty:
        return EMPTY
    bounds = binary_bounds(operator, (left.low, left.high), (right.low, right.high))
    return _between(bounds, saturate)


def _pairs(left: ValueSet, right: ValueSet) -> Iterable[tuple[int, int]] | None:
    """All pairs of operands, where they can be listed."""
    if left.points is None or right.points is None:
        return None
    if len(left.points) * len(right.points) > MOST_ADDRESSES:
        return None
    return product(left.points, right.points)


def _compare(operator: str, left: ValueSet, right: ValueSet) -> ValueSet:
    """Comparisons are decided by the ends, equality by a common member."""
    if operator in ("eq", "ne"):
        if left.is_constant and right.is_constant:
            return TRUE if (left.low == right.low) == (operator == "eq") else FALSE
        if left.meet(right).is_empty:
            return FALSE if operator == "eq" else TRUE
        return BOTH
    if operator in ("gt", "ge"):
        return _compare("lt" if operator == "gt" else "le", right, left)
    if operator in ("ult", "ule"):
        return _compare_unsigned(operator, left, right)
    if operator == "lt":
        return TRUE if left.high < right.low else FALSE if left.low >= right.high else BOTH
    return TRUE if left.high <= right.low else FALSE if left.low > right.high else BOTH


def _compare_unsigned(operator: str, left: ValueSet, right: ValueSet) -> ValueSet:
    if left.low >= 0 and right.low >= 0:
        return _compare(operator[1:], left, right)
    if left.high < 0 and right.high < 0:
        return _compare(operator[1:], left, right)
    if left.high < 0 <= right.low:
        return FALSE
    return TRUE if right.high < 0 <= left.low else BOTH


def apply_convert(operand: ValueSet, width: int, signed: bool) -> ValueSet:
    if operand.is_empty or width >= 64:
        return operand
    if operand.points is not None:
        results = [convert(point, width, signed) for point in operand.points]
        return from_points(results, _address_room(operand))
    low = -(1 << (width - 1)) if signed else 0
    high = low + (1 << width) - 1
    if (operand.low - low) >> width == (operand.high - low) >> width:
        # No multiple of the modulus lies in between: the whole interval moves as one.
        offset = ((operand.low - low) >> width) << width
        return ValueSet.interval(operand.low - offset, operand.high - offset)
    return ValueSet.interval(low, high)


def cannot_fault(expr: Expr, lookup: Lookup, choices: int = 1) -> bool:
    """Whether evaluating `expr` never ends in a fault; False where that is not known."""
    match expr:
        case Const() | Choice():
            return True
        case Load(address):
            if not cannot_fault(address, lookup, choices):
                return False
            addresses = evaluate(address, lookup, choices)
            if addresses.low <= 0 or addresses.high - addresses.low >= MOST_CELLS:
                return False
            cells = members(addresses)
            return cells is not None and not any(lookup(cell).is_empty for cell in cells)
        case Binary(operator, left, right):
            if not (cannot_fault(left, lookup, choices) and cannot_fault(right, lookup, choices)):
                return False
            if operator in DIVISIONS:
                return not evaluate(right, lookup, choices).contains(0)
            if operator in SHIFTS:
                places = evaluate(right, lookup, choices)
                return places.low >= 0 and places.high <= 63
            return True
        case Conditional(test, then, otherwise):
            if not cannot_fault(test, lookup, choices):
                return False
            known = truth_of(evaluate(test, lookup, choices))
            return (known is False or cannot_fault(then, lookup, choices)) and (
                known is True or cannot_fault(otherwise, lookup, choices)
            )
        case Element(base, index, length):
            if not (cannot_fault(base, lookup, choices) and cannot_fault(index, lookup, choices)):
                return False
            indexes = evaluate(index, lookup, choices)
            return indexes.low >= 0 and indexes.high < length
        case Unary(_, operand) | Convert(operand):
            return cannot_fault(operand, lookup, choices)
