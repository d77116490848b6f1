"""The values that an expression can have: sets of 64-bit numbers, and evaluation over them.

A `ValueSet` is an interval, or the exact list of its members if these are few.  It contains *at
least* the values that can occur: every operation over-approximates, so a value that `evaluate`
leaves out cannot occur.  Evaluations that end in a fault contribute no value; `cannot_fault` tells
whether there are any.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple, TypeAlias

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
from mazurka.ir.values.splitting import find_subject, partition

MOST_POINTS = 64
"""The largest size up to which sets of numbers are exact."""
MOST_ADDRESSES = 4096
"""The same for sets of addresses, which is larger: gaps in them are other variables."""


class ValueSet(NamedTuple):
    """A set of 64-bit numbers between `low` and `high`.

    `points` are all the members in rising order, or None if they are too many to list; the
    set is then the whole interval.  An interval of at most `MOST_POINTS` members is always
    listed, so equal sets of that size are equal objects.
    """

    low: int
    high: int
    points: tuple[int, ...] | None

    @staticmethod
    def of(*points: int) -> ValueSet:
        """Return the set of exactly these numbers (their interval, if they are too many)."""
        return from_points(points)

    @staticmethod
    def interval(low: int, high: int) -> ValueSet:
        """Return the set of all numbers from `low` to `high`, both included."""
        if low > high:
            return EMPTY
        if high - low < MOST_POINTS:
            return ValueSet(low, high, tuple(range(low, high + 1)))
        return ValueSet(low, high, None)

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    @property
    def is_constant(self) -> bool:
        return self.low == self.high

    @property
    def is_whole(self) -> bool:
        """Whether no number between the two ends is missing."""
        return self.points is None or len(self.points) == self.high - self.low + 1

    @property
    def is_extreme(self) -> bool:
        """Whether the set is unbounded: one end is the smallest or largest 64-bit number."""
        return not self.is_empty and (self.low == SMALLEST or self.high == LARGEST)

    def contains(self, value: int) -> bool:
        if self.points is None:
            return self.low <= value <= self.high
        position = bisect_left(self.points, value)
        return position < len(self.points) and self.points[position] == value

    def is_subset(self, other: ValueSet) -> bool:
        if self is other or self.low > self.high:
            return True
        if self.low < other.low or other.high < self.high:
            return False
        if other.is_whole:
            return True
        if self.points is None:
            return False
        return set(self.points).issubset(other.points or ())

    def join(self, other: ValueSet, most: int = MOST_POINTS) -> ValueSet:
        """Return the union, listed up to `most` members."""
        if other.is_subset(self):
            return self
        if self.is_empty:
            return other
        if self.points is None or other.points is None:
            return ValueSet(min(self.low, other.low), max(self.high, other.high), None)
        return from_points({*self.points, *other.points}, most)

    def meet(self, other: ValueSet) -> ValueSet:
        """Return the intersection."""
        if self.points is None and other.points is None:
            return ValueSet.interval(max(self.low, other.low), min(self.high, other.high))
        few, many = (self, other) if self.points is not None else (other, self)
        if few.is_subset(many):
            return few
        kept = [point for point in few.points or () if many.contains(point)]
        return from_points(kept, MOST_ADDRESSES)

    def clip(self, low: int, high: int) -> ValueSet:
        """Return the members between `low` and `high`."""
        if low <= self.low and self.high <= high:
            return self
        if self.points is None:
            return ValueSet.interval(max(self.low, low), min(self.high, high))
        inside = self.points[bisect_left(self.points, low) : bisect_right(self.points, high)]
        return ValueSet(inside[0], inside[-1], inside) if inside else EMPTY

    def without(self, value: int) -> ValueSet:
        """Return the members other than `value`."""
        if not self.contains(value):
            return self
        if self.points is not None:
            return from_points([p for p in self.points if p != value], MOST_ADDRESSES)
        if value == self.low:
            return ValueSet.interval(self.low + 1, self.high)
        return ValueSet.interval(self.low, self.high - 1) if value == self.high else self

    def widen(self, other: ValueSet, thresholds: Sequence[int] = ()) -> ValueSet:
        """Return a set that contains both; an end that moves is moved on to the next threshold.

        `thresholds` are sorted.  Only finitely many ends are possible, so chains of widenings end.
        """
        if other.is_subset(self):
            return self
        low, high = min(self.low, other.low), max(self.high, other.high)
        if low < self.low:
            below = bisect_right(thresholds, low)
            low = max(thresholds[below - 1], SMALLEST) if below else SMALLEST
        if high > self.high:
            above = bisect_left(thresholds, high)
            high = min(thresholds[above], LARGEST) if above < len(thresholds) else LARGEST
        return ValueSet.interval(low, high)

    def __str__(self) -> str:
        if self.points is not None:
            return "{" + ", ".join(map(str, self.points)) + "}"
        return f"{self.low}..{self.high}"


def from_points(points: Iterable[int], most: int = MOST_POINTS) -> ValueSet:
    """Return the set of these numbers, listed if there are at most `most` of them."""
    members = tuple(sorted(set(points)))
    if not members:
        return EMPTY
    if len(members) <= max(most, MOST_POINTS):
        return ValueSet(members[0], members[-1], members)
    return ValueSet.interval(members[0], members[-1])


def join_all(sets: Iterable[ValueSet], most: int = MOST_POINTS) -> ValueSet:
    """Return the union of many sets; equal ones are examined once."""
    result = EMPTY
    for values in dict.fromkeys(sets):
        result = result.join(values, most)
    return result


EMPTY = ValueSet(LARGEST, SMALLEST, ())
TOP = ValueSet(SMALLEST, LARGEST, None)
BOTH = ValueSet.of(0, 1)
TRUE = ValueSet.of(1)
FALSE = ValueSet.of(0)


def truth_of(values: ValueSet) -> bool | None:
    """Return whether all members are true, or all false; None if neither, or if there are none."""
    if values.is_empty:
        return None
    if not values.contains(0):
        return True
    return False if values.is_constant else None


MOST_CELLS = 16384
"""The most cells that a load through an interval of addresses examines."""

Lookup: TypeAlias = Callable[[int], ValueSet]
"""Returns the values of the cell at an address; `EMPTY` if there is no such cell."""


@lru_cache(maxsize=4096)
def _constant(value: int) -> ValueSet:
    return ValueSet(value, value, (value,))


def evaluate(expr: Expr, lookup: Lookup, choices: int = 1, saturate: bool = False) -> ValueSet:
    """Return all values that `expr` can have if each cell has one of the values of `lookup`.

    With `saturate`, an interval beyond the 64-bit numbers is cut off there instead of becoming
    `TOP`: sound only for a caller that refuses programs in which that can happen.
    """
    if isinstance(expr, Const):
        return _constant(expr.value)
    if isinstance(expr, Load):
        place = expr.address
        if isinstance(place, Const):
            return lookup(place.value) if place.value > 0 else EMPTY
        return load(evaluate(place, lookup, choices, saturate), lookup)
    if isinstance(expr, Binary):
        first = evaluate(expr.left, lookup, choices, saturate)
        second = evaluate(expr.right, lookup, choices, saturate)
        return apply_binary(expr.operator, first, second, saturate)
    match expr:  # the kinds above are most; patterns take longer to match than they to evaluate
        case Conditional(test, then, otherwise):
            subject = find_subject(test)
            if subject is not None:
                values = evaluate(subject, lookup, choices, saturate)
                if values.points is not None and len(values.points) <= MOST_POINTS:
                    given = _GivenValues(subject, lookup, choices, saturate)
                    return given.evaluate(expr, values.points)
            outcome = evaluate(test, lookup, choices, saturate)
            if outcome.is_empty:
                return EMPTY
            known = truth_of(outcome)
            if known is not None:
                return evaluate(then if known else otherwise, lookup, choices, saturate)
            first = evaluate(then, lookup, choices, saturate)
            second = evaluate(otherwise, lookup, choices, saturate)
            return first.join(second, MOST_ADDRESSES)
        case Element(base, index, length, stride):
            first = evaluate(base, lookup, choices, saturate)
            second = evaluate(index, lookup, choices, saturate)
            return element(first, second, length, stride)
        case Unary(operator, operand):
            return apply_unary(operator, evaluate(operand, lookup, choices, saturate), saturate)
        case Convert(operand, width, signed):
            return apply_convert(
                _evaluate_wrapping(operand, lookup, choices, saturate), width, signed
            )
        case Choice():
            return ValueSet.interval(0, choices - 1) if choices <= LARGEST else TOP


class _GivenValues:
    """Evaluation of expressions in which one expression, the subject, has certain values."""

    def __init__(self, subject: Expr, lookup: Lookup, choices: int, saturate: bool) -> None:
        self.subject, self.lookup = subject, lookup
        self.choices, self.saturate = choices, saturate
        self.judged: dict[int, bool | None] = {}
        """What is known of each condition, by its identity: one stands in many places."""

    def evaluate(self, expr: Expr, points: Sequence[int]) -> ValueSet:
        """Return all values that `expr` can have where the subject has one of the values."""
        if type(expr) is type(self.subject) and expr == self.subject:
            return from_points(points, MOST_ADDRESSES)
        match expr:
            case Conditional(test, then, otherwise):
                taken, refused = partition(test, self.subject, points, self.judge)
                first = self.evaluate(then, taken) if taken else EMPTY
                second = self.evaluate(otherwise, refused) if refused else EMPTY
                return first.join(second, MOST_ADDRESSES)
            case Load(address) if not isinstance(address, Const):
                return load(self.evaluate(address, points), self.lookup)
            case Binary(operator, left, right):
                first = self.evaluate(left, points)
                return apply_binary(operator, first, self.evaluate(right, points), self.saturate)
            case Element(base, index, length, stride):
                first = self.evaluate(base, points)
                return element(first, self.evaluate(index, points), length, stride)
            case _:
                return evaluate(expr, self.lookup, self.choices, self.saturate)

    def judge(self, condition: Expr) -> bool | None:
        if id(condition) not in self.judged:
            values = evaluate(condition, self.lookup, self.choices, self.saturate)
            self.judged[id(condition)] = truth_of(values)
        return self.judged[id(condition)]


def _evaluate_wrapping(expr: Expr, lookup: Lookup, choices: int, saturate: bool) -> ValueSet:
    """Return the values of a converted expression, of which only the low bits count.

    Sums, differences, products and left shifts are those of unlimited integers, which have the
    same 64 low bits: whether the conversion changes them is seen from their exact bounds.
    """
    match expr:
        case Binary("add" | "sub" | "mul" as operator, left, right):
            first = _evaluate_wrapping(left, lookup, choices, saturate)
            return _apply_wrapping(
                operator, first, _evaluate_wrapping(right, lookup, choices, saturate)
            )
        case Binary("shl", left, right):
            first = _evaluate_wrapping(left, lookup, choices, saturate)
            return _apply_wrapping("shl", first, evaluate(right, lookup, choices, saturate))
        case Binary("div" | "floordiv" as operator, left, right):
            first = evaluate(left, lookup, choices, saturate)
            return apply_binary(operator, first, evaluate(right, lookup, choices, saturate))
        case Unary("neg", operand):
            values = _evaluate_wrapping(operand, lookup, choices, saturate)
            return _apply_wrapping("sub", FALSE, values)
        case Unary("abs", operand):
            return apply_unary("abs", evaluate(operand, lookup, choices, saturate))
        case _:
            return evaluate(expr, lookup, choices, saturate)


def _apply_wrapping(operator: str, left: ValueSet, right: ValueSet) -> ValueSet:
    """Apply an operator to unlimited integers; the result is right in its 64 low bits."""
    if left.is_empty or right.is_empty:
        return EMPTY
    if left.points is not None and right.points is not None:
        few = len(left.points) * len(right.points) <= MOST_ADDRESSES
        if few and all(fits((each.low, each.high)) for each in (left, right)):
            return apply_binary(operator, left, right)
    bounds = binary_bounds(operator, (left.low, left.high), (right.low, right.high))
    if bounds is None:
        return EMPTY
    modest = bounds[0] >= -(LARGEST**2) and bounds[1] <= LARGEST**2
    return ValueSet.interval(*bounds) if modest else TOP


def _address_room(values: ValueSet) -> int:
    """Return the limit for listing: sets above the common limit hold addresses, and stay listed."""
    listed = values.points is not None and len(values.points) > MOST_POINTS
    return MOST_ADDRESSES if listed else MOST_POINTS


def members(addresses: ValueSet) -> Iterable[int] | None:
    """Return the non-null addresses, one by one; None if they are too many."""
    if addresses.points is not None:
        return [address for address in addresses.points if address > 0]
    positive = addresses.clip(1, LARGEST)
    if positive.high - positive.low >= MOST_CELLS:
        return None
    return range(positive.low, positive.high + 1)


def load(addresses: ValueSet, lookup: Lookup) -> ValueSet:
    """Return the values of all cells at these addresses."""
    if addresses.is_constant:
        return lookup(addresses.low) if addresses.low > 0 else EMPTY
    cells = members(addresses)
    return TOP if cells is None else join_all(map(lookup, cells), MOST_ADDRESSES)


def element(base: ValueSet, index: ValueSet, length: int, stride: int) -> ValueSet:
    """Return the addresses of the elements whose index is in bounds."""
    index = index.clip(0, length - 1)
    if base.is_empty or index.is_empty:
        return EMPTY
    if base.is_constant and index.is_constant:
        return ValueSet.of(wrap(base.low + index.low * stride))
    indexes = index.points or range(index.low, index.high + 1)
    if base.points is not None and len(base.points) * len(indexes) <= MOST_ADDRESSES:
        places = [b + i * stride for b in base.points for i in indexes]
        if not fits((min(places), max(places))):
            places = list(map(wrap, places))
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
        # Sums of whole intervals have no gaps, so they need not be listed pair by pair.
        bounds = binary_bounds(operator, (left.low, left.high), (right.low, right.high))
        if bounds is not None and fits(bounds):
            return ValueSet.interval(*bounds)
    if right.is_constant and left.points is not None and operator in ("add", "sub"):
        shifted = _shift(left, right.low if operator == "add" else -right.low)
        if shifted is not None:
            return shifted
    if (pairs := _pairs(left, right)) is not None:
        function = BINARY[operator]
        moves = operator in ("add", "sub")  # perhaps through an array, from one of many places
        most = MOST_ADDRESSES if moves else max(_address_room(left), _address_room(right))
        return from_points({function(x, y) for x, y in pairs}, most)
    if right.is_empty:
        return EMPTY
    bounds = binary_bounds(operator, (left.low, left.high), (right.low, right.high))
    return _between(bounds, saturate)


def _shift(values: ValueSet, offset: int) -> ValueSet | None:
    """The listed numbers, each moved; None if one would not fit in 64 bits."""
    assert values.points is not None
    bounds = values.low + offset, values.high + offset
    return ValueSet(*bounds, tuple([p + offset for p in values.points])) if fits(bounds) else None


def _pairs(left: ValueSet, right: ValueSet) -> Iterable[tuple[int, int]] | None:
    """Return all pairs of operands, if they can be listed."""
    if left.points is None or right.points is None:
        return None
    if len(left.points) * len(right.points) > MOST_ADDRESSES:
        return None
    return product(left.points, right.points)


def _compare(operator: str, left: ValueSet, right: ValueSet) -> ValueSet:
    """Compare two sets: order is decided by the ends, equality by a common member."""
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


def find_window(width: int, signed: bool) -> Bounds:
    """Return the numbers that a conversion keeps; all 64 bits are read as a signed number."""
    if width >= 64:
        return SMALLEST, LARGEST
    low = -(1 << (width - 1)) if signed else 0
    return low, low + (1 << width) - 1


def apply_convert(operand: ValueSet, width: int, signed: bool) -> ValueSet:
    if operand.is_empty:
        return operand
    if operand.points is not None:
        results = [convert(point, width, signed) for point in operand.points]
        return from_points(results, _address_room(operand))
    low, high = find_window(width, signed)
    if (operand.low - low) >> width == (operand.high - low) >> width:
        # No multiple of the modulus is in between, so the whole interval is shifted.
        offset = ((operand.low - low) >> width) << width
        return ValueSet.interval(operand.low - offset, operand.high - offset)
    return ValueSet.interval(low, high)


def cannot_fault(expr: Expr, lookup: Lookup, choices: int = 1) -> bool:
    """Whether evaluating `expr` never ends in a fault; False if that is not known."""
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
