"""Finite abstractions of sets of 64-bit numbers.

A `ValueSet` is an interval, or the exact list of its members where these are few.  It stands
for *at least* the values that can occur: every operation here errs on the larger side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mazurka.ir.values.intervals import LARGEST, SMALLEST

MOST_POINTS = 64
"""Sets of numbers are kept exactly up to this size."""
MOST_ADDRESSES = 4096
"""Sets of addresses are kept exactly up to this size: gaps in them are other variables."""


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A set of 64-bit numbers between `low` and `high`.

    `points` are all the members in rising order, or None where they are too many to list; the
    set is then the whole interval.  An interval of at most `MOST_POINTS` members is always
    listed, so equal sets of that size are equal objects.
    """

    low: int
    high: int
    points: tuple[int, ...] | None

    @staticmethod
    def of(*points: int) -> ValueSet:
        """The set of exactly these numbers (their interval, where they are too many)."""
        return from_points(points)

    @staticmethod
    def interval(low: int, high: int) -> ValueSet:
        """All numbers from `low` to `high`, both included."""
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
        """Whether an end is an end of the 64-bit numbers: nothing bounds the set there."""
        return not self.is_empty and (self.low == SMALLEST or self.high == LARGEST)

    def contains(self, value: int) -> bool:
        if self.points is None:
            return self.low <= value <= self.high
        position = bisect_left(self.points, value)
        return position < len(self.points) and self.points[position] == value

    def is_subset(self, other: ValueSet) -> bool:
        if self is other or self.is_empty:
            return True
        if self.low < other.low or other.high < self.high:
            return False
        if other.is_whole:
            return True
        if self.points is None:
            return False
        return set(self.points).issubset(other.points or ())

    def join(self, other: ValueSet, most: int = MOST_POINTS) -> ValueSet:
        """The union, listed up to `most` members."""
        if other.is_subset(self):
            return self
        if self.is_empty:
            return other
        if self.points is None or other.points is None:
            return ValueSet(min(self.low, other.low), max(self.high, other.high), None)
        return from_points({*self.points, *other.points}, most)

    def meet(self, other: ValueSet) -> ValueSet:
        """The intersection."""
        if self.points is None and other.points is None:
            return ValueSet.interval(max(self.low, other.low), min(self.high, other.high))
        few, many = (self, other) if self.points is not None else (other, self)
        if few.is_subset(many):
            return few
        kept = [point for point in few.points or () if many.contains(point)]
        return from_points(kept, MOST_ADDRESSES)

    def clip(self, low: int, high: int) -> ValueSet:
        """The members between `low` and `high`."""
        if low <= self.low and self.high <= high:
            return self
        if self.points is None:
            return ValueSet.interval(max(self.low, low), min(self.high, high))
        inside = self.points[bisect_left(self.points, low) : bisect_right(self.points, high)]
        return ValueSet(inside[0], inside[-1], inside) if inside else EMPTY

    def without(self, value: int) -> ValueSet:
        """The members other than `value`."""
        if not self.contains(value):
            return self
        if self.points is not None:
            return from_points([p for p in self.points if p != value], MOST_ADDRESSES)
        if value == self.low:
            return ValueSet.interval(self.low + 1, self.high)
        return ValueSet.interval(self.low, self.high - 1) if value == self.high else self

    def widen(self, other: ValueSet, thresholds: Sequence[int] = ()) -> ValueSet:
        """A set that holds both; an end that moves goes on to the next threshold.

        `thresholds` rise.  Only finitely many ends are possible, so chains of widenings end.
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
    """The set of these numbers, listed where there are at most `most` of them."""
    members = tuple(sorted(set(points)))
    if not members:
        return EMPTY
    if len(members) <= max(most, MOST_POINTS):
        return ValueSet(members[0], members[-1], members)
    return ValueSet.interval(members[0], members[-1])


def join_all(sets: Iterable[ValueSet], most: int = MOST_POINTS) -> ValueSet:
    """The union of many sets; equal ones are looked at once."""
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
    """Whether all members are true, or all false; None where it depends (or there are none)."""
    if values.is_empty:
        return None
    if not values.contains(0):
        return True
    return False if values.is_constant else None
