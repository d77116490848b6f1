"""What is known about the cells in the middle of a step, and how guards and stores change it.

`Facts` hold value sets for some cells; the values of all other cells come from `elsewhere`, a
summary of all states.  During a step, facts about shared cells are as reliable as facts about
locals, since no other thread moves in between.  `Facts.assume` restricts facts to the states in
which a condition holds; leaving out a restriction would be sound, only less exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mazurka.ir.expressions import (
    ZERO,
    Binary,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
)
from mazurka.ir.program import Assign, Cell, Operation
from mazurka.ir.values.evaluation import (
    MOST_ADDRESSES,
    Lookup,
    ValueSet,
    apply_binary,
    evaluate,
    find_window,
    from_points,
    truth_of,
)
from mazurka.ir.values.intervals import LARGEST, SMALLEST
from mazurka.ir.values.splitting import find_subject, split

Recorder: TypeAlias = Callable[[int, ValueSet], None]
"""A callback for every store, with the cell's address and the values stored there."""

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


class Facts:
    """The values that cells can have at one moment of a step of one thread."""

    __slots__ = ("choices", "elsewhere", "known", "saturate")

    def __init__(
        self,
        known: dict[int, ValueSet],
        elsewhere: Lookup,
        choices: int = 1,
        saturate: bool = False,
    ) -> None:
        self.known = known
        self.elsewhere = elsewhere
        self.choices = choices
        self.saturate = saturate

    def copy(self) -> Facts:
        return Facts(dict(self.known), self.elsewhere, self.choices, self.saturate)

    def lookup(self, address: int) -> ValueSet:
        values = self.known.get(address)
        return self.elsewhere(address) if values is None else values

    def values(self, expr: Expr) -> ValueSet:
        return evaluate(expr, self.lookup, self.choices, self.saturate)

    def assume(self, condition: Expr, outcome: bool = True) -> bool:
        """Keep the states in which `condition` is true (or false); False if there are none."""
        match condition:
            case Const(value):
                return (value != 0) == outcome
            case Unary("not", operand):
                return self.assume(operand, not outcome)
            case Conditional(test, then, otherwise):
                subject = find_subject(test)
                if subject is not None:
                    values = self.values(subject)
                    if values.points is not None:
                        return self._assume_by_points(condition, outcome, subject, values)
                return self._assume_either(test, then, otherwise, outcome)
            case Binary("ne", operand, Const(0)):
                return self.assume(operand, outcome)
            case Binary("eq", operand, Const(0)):
                return self.assume(operand, not outcome)
            case Binary(operator, left, right) if operator in _OPPOSITE:
                relation = operator if outcome else _OPPOSITE[operator]
                return self._relate(left, relation, right)
            case Binary("ult" | "ule" as operator, left, right):
                return self._assume_unsigned(operator, left, right, outcome)
            case _:
                return self._relate(condition, "ne" if outcome else "eq", ZERO)

    def _assume_either(self, test: Expr, then: Expr, otherwise: Expr, outcome: bool) -> bool:
        """Follow both branches of a conditional, and join what is known after each of them."""
        taken, refused = self.copy(), self.copy()
        if not (taken.assume(test, True) and taken.assume(then, outcome)):
            possible = refused.assume(test, False) and refused.assume(otherwise, outcome)
            return possible and self._become(refused)
        if not (refused.assume(test, False) and refused.assume(otherwise, outcome)):
            return self._become(taken)
        for address, values in taken.known.items():
            if address in refused.known:
                self.known[address] = values.join(refused.known[address], MOST_ADDRESSES)
        return True

    def _assume_by_points(
        self, condition: Expr, outcome: bool, subject: Expr, values: ValueSet
    ) -> bool:
        """Keep the values of an expression with which a condition that asks for it again and again
        (is this pointer in that object?) can have the outcome.

        The other questions of the condition are looked at where it comes to them; one that all
        values come to is assumed as well."""
        assert values.points is not None
        parts = list(split(condition, outcome, subject, values.points, self._judge))
        kept = from_points((p for part in parts for p in part.points), MOST_ADDRESSES)
        if not self._restrict(subject, values, kept):
            return False
        rest = parts[0].rest
        if rest is not None and all(part.rest == rest for part in parts[1:]):
            return self.assume(*rest)
        return True

    def _judge(self, condition: Expr) -> bool | None:
        return truth_of(self.values(condition))

    def _assume_unsigned(self, operator: str, left: Expr, right: Expr, outcome: bool) -> bool:
        """Keep the states with a certain outcome of an unsigned comparison.

        Numbers that are not negative are compared as usual.  What is smaller than such a number
        is not negative, either.
        """
        first, second = self.values(left), self.values(right)
        if truth_of(apply_binary(operator, first, second)) is (not outcome):
            return False
        lower, upper = (left, right) if outcome else (right, left)
        if self.values(upper).low >= 0 and not self._relate(lower, "ge", ZERO):
            return False
        if self.values(left).low < 0 or self.values(right).low < 0:
            return True
        relation = operator[1:]
        return self._relate(left, relation if outcome else _OPPOSITE[relation], right)

    def _become(self, other: Facts) -> bool:
        self.known = other.known
        return True

    def _relate(self, left: Expr, relation: str, right: Expr) -> bool:
        """Keep the states in which `left relation right` holds."""
        first, second = self.values(left), self.values(right)
        if truth_of(apply_binary(relation, first, second)) is False:
            return False
        if first.is_empty or second.is_empty:
            return False
        return self._restrict(left, first, _select(first, relation, second)) and self._restrict(
            right, second, _select(second, _MIRRORED[relation], first)
        )

    def _restrict(self, expr: Expr, current: ValueSet, allowed: ValueSet) -> bool:
        """Keep the states in which `expr`, now among `current`, is among `allowed`."""
        if allowed.is_empty:
            return False
        if allowed == current:
            return True
        match expr:
            case Load(address):
                place = self.values(address)
                if place.is_constant and place.low > 0:
                    # A cell that occurs twice in a condition may have been narrowed before.
                    remaining = self.lookup(place.low).meet(allowed)
                    self.known[place.low] = remaining
                    return not remaining.is_empty
            case Binary("add", operand, Const(offset)) | Binary("add", Const(offset), operand):
                return self._restrict_shifted(operand, offset, allowed)
            case Binary("sub", operand, Const(offset)):
                return self._restrict_shifted(operand, -offset, allowed)
            case Element(Const(base), index, _, 1):
                return self._restrict_shifted(index, base, allowed)
            case Convert(operand, width, signed):
                inside = self.values(operand)
                low, high = find_window(width, signed)
                if low <= inside.low and inside.high <= high:
                    return self._restrict(operand, inside, inside.meet(allowed))
        return True

    def _restrict_shifted(self, operand: Expr, offset: int, allowed: ValueSet) -> bool:
        """Keep the states in which `operand + offset` is among `allowed`."""
        current = self.values(operand)
        wraps = current.low + offset < SMALLEST or current.high + offset > LARGEST
        if wraps:
            return True
        return self._restrict(operand, current, current.meet(_shift(allowed, -offset)))

    def perform(self, operation: Operation, cells: Sequence[Cell], record: Recorder) -> bool:
        """Apply one operation to the facts; False if it is a fault in all states."""
        if isinstance(operation, Assign):
            return self._assign(operation, cells, record)
        return self.assume(operation.condition)

    def _assign(self, operation: Assign, cells: Sequence[Cell], record: Recorder) -> bool:
        addresses = self.values(operation.address).clip(1, len(cells) - 1)
        values = self.values(operation.value)
        if addresses.is_constant:
            stored = clip_to_cell(cells[addresses.low], values)
            if stored.is_empty:
                return False
            self.known[addresses.low] = stored
            record(addresses.low, stored)
            return True
        possible = False
        for address in addresses.points or range(addresses.low, addresses.high + 1):
            stored = clip_to_cell(cells[address], values)
            if stored.is_empty:
                continue
            possible = True
            record(address, stored)
            self.weaken(address, stored)
        return possible

    def weaken(self, address: int, values: ValueSet) -> None:
        """Take notice of a store to one of several cells: the others keep their values."""
        if address in self.known:
            self.known[address] = self.known[address].join(values, MOST_ADDRESSES)


def clip_to_cell(cell: Cell, values: ValueSet) -> ValueSet:
    """Return the values that can be stored without a `range` fault."""
    if cell.inferred or (cell.low <= values.low and values.high <= cell.high):
        return values
    return values.clip(cell.low, cell.high)


def _shift(values: ValueSet, offset: int) -> ValueSet:
    if values.points is not None:
        inside = (point + offset for point in values.points)
        return from_points((p for p in inside if SMALLEST <= p <= LARGEST), MOST_ADDRESSES)
    low, high = values.low + offset, values.high + offset
    return ValueSet.interval(max(low, SMALLEST), min(high, LARGEST))


def _select(values: ValueSet, relation: str, other: ValueSet) -> ValueSet:
    """Return the members of `values` that are in the relation to some member of `other`."""
    match relation:
        case "eq":
            return values.meet(other)
        case "ne":
            return values.without(other.low) if other.is_constant else values
        case "lt":
            return values.clip(SMALLEST, other.high - 1)
        case "le":
            return values.clip(SMALLEST, other.high)
        case "gt":
            return values.clip(other.low + 1, LARGEST)
        case _:
            return values.clip(other.low, LARGEST)
