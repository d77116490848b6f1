"""Conditions that ask for one expression again and again, taken apart by its values.

Which object does this pointer lead to?  Front ends ask that by a tree of comparisons of one address
with constants, and what stands in the leaves counts only for the addresses that come there.  So
such a condition is not judged branch by branch, but once for each value of its *subject*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from mazurka.ir.arithmetic import BINARY
from mazurka.ir.expressions import Binary, Choice, Conditional, Const, Expr, Unary

ORDERINGS = frozenset({"eq", "ne", "lt", "ge", "le", "gt"})

Judge: TypeAlias = Callable[[Expr], "bool | None"]
"""Whether a condition always holds, or never; None if neither is known."""


class SplitPart(NamedTuple):
    """Some values of the subject, and what else must hold; None where nothing must."""

    points: Sequence[int]
    rest: tuple[Expr, bool] | None


def find_subject(test: Expr) -> Expr | None:
    """The expression that a condition compares with a constant first; None where it does not."""
    while True:
        match test:
            case Conditional(inner, _, _) | Unary("not", inner):
                test = inner
            case Binary(operator, left, Const()) if operator in ORDERINGS:
                return None if isinstance(left, Conditional | Const | Choice) else left
            case _:
                return None


def split(
    condition: Expr, outcome: bool, subject: Expr, points: Sequence[int], judge: Judge
) -> Iterator[SplitPart]:
    """The values of the subject with which a condition can have an outcome, in parts."""
    if not points:
        return
    match condition:
        case Const(value):
            if (value != 0) == outcome:
                yield SplitPart(points, None)
        case Unary("not", operand) | Binary("eq", operand, Const(0)) if operand != subject:
            yield from split(operand, not outcome, subject, points, judge)
        case Binary("ne", operand, Const(0)) if operand != subject:
            yield from split(operand, outcome, subject, points, judge)
        case Conditional(test, then, otherwise):
            taken, refused = partition(test, subject, points, judge)
            yield from split(then, outcome, subject, taken, judge)
            yield from split(otherwise, outcome, subject, refused, judge)
        case Binary(operator, left, Const(value)) if operator in ORDERINGS and left == subject:
            compare = BINARY[operator]
            if kept := [p for p in points if bool(compare(p, value)) == outcome]:
                yield SplitPart(kept, None)
        case _:
            if judge(condition) is not (not outcome):
                yield SplitPart(points, (condition, outcome))


def partition(
    condition: Expr, subject: Expr, points: Sequence[int], judge: Judge
) -> tuple[Sequence[int], Sequence[int]]:
    """The values of the subject with which a condition can hold, and with which it can fail.

    Both are found in one walk: a condition inside of the test of another would be looked at twice
    as often at each depth."""
    match condition:
        case Const(value):
            return (points, ()) if value else ((), points)
        case Unary("not", operand) | Binary("eq", operand, Const(0)) if operand != subject:
            return partition(operand, subject, points, judge)[::-1]
        case Binary("ne", operand, Const(0)) if operand != subject:
            return partition(operand, subject, points, judge)
        case Conditional(test, then, otherwise):
            taken, refused = partition(test, subject, points, judge)
            first = partition(then, subject, taken, judge) if taken else ((), ())
            second = partition(otherwise, subject, refused, judge) if refused else ((), ())
            return _unite(first[0], second[0]), _unite(first[1], second[1])
        case Binary(operator, left, Const(value)) if operator in ORDERINGS and left == subject:
            compare = BINARY[operator]
            kept: tuple[list[int], list[int]] = ([], [])
            for point in points:
                kept[not compare(point, value)].append(point)
            return kept
        case _:
            known = judge(condition)
            return (() if known is False else points), (() if known is True else points)


def _unite(first: Sequence[int], second: Sequence[int]) -> Sequence[int]:
    """Values of both, each once: parts have values in common where other questions are open."""
    if not first or not second:
        return first or second
    return tuple(dict.fromkeys((*first, *second)))
