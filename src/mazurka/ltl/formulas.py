"""Formulas of linear temporal logic, in a core of few operators.

`F`, `G`, `W`, `M`, `->` and `<->` are written with `until` and `release` as soon as they are read.
A proposition is an expression of the IR, which is true if it is not 0.  `docs/semantics.md` says
what a formula means for a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.ir.expressions import Expr

DUAL = {
    "true": "false", "false": "true", "and": "or", "or": "and", "next": "next", "until": "release",
    "release": "until",
}  # fmt: skip
"""What becomes of an operator when a negation moves through it."""


@dataclass(frozen=True, slots=True)
class Formula:
    """An operator and its operands.

    The operators are `true`, `false`, `atom`, `not`, `and`, `or`, `next`, `until` and `release`.
    """

    operator: str
    operands: tuple[Formula, ...] = ()
    proposition: Expr | None = None
    """Of an `atom`."""

    def subformulas(self) -> Iterator[Formula]:
        """Iterate over the formula and all below it, parents first."""
        yield self
        for each in self.operands:
            yield from each.subformulas()

    @property
    def has_next(self) -> bool:
        return any(each.operator == "next" for each in self.subformulas())

    @property
    def propositions(self) -> tuple[Expr, ...]:
        """The different propositions, in order of first appearance."""
        found = {each.proposition: None for each in self.subformulas() if each.proposition}
        return tuple(each for each in found if each is not None)


TRUE = Formula("true")
FALSE = Formula("false")


def atom(proposition: Expr) -> Formula:
    return Formula("atom", (), proposition)


def negation(formula: Formula) -> Formula:
    return Formula("not", (formula,))


def conjunction(left: Formula, right: Formula) -> Formula:
    return Formula("and", (left, right))


def disjunction(left: Formula, right: Formula) -> Formula:
    return Formula("or", (left, right))


def next_time(formula: Formula) -> Formula:
    return Formula("next", (formula,))


def until(left: Formula, right: Formula) -> Formula:
    return Formula("until", (left, right))


def release(left: Formula, right: Formula) -> Formula:
    return Formula("release", (left, right))


def eventually(formula: Formula) -> Formula:
    return until(TRUE, formula)


def always(formula: Formula) -> Formula:
    return release(FALSE, formula)


def weak_until(left: Formula, right: Formula) -> Formula:
    return release(right, disjunction(left, right))


def strong_release(left: Formula, right: Formula) -> Formula:
    return until(right, conjunction(left, right))


def implication(left: Formula, right: Formula) -> Formula:
    return disjunction(negation(left), right)


def equivalence(left: Formula, right: Formula) -> Formula:
    return disjunction(conjunction(left, right), conjunction(negation(left), negation(right)))


def push_negations(formula: Formula, *, negated: bool = False) -> Formula:
    """Return an equal formula in which only atoms are negated; with `negated`, its negation."""
    match formula.operator:
        case "not":
            return push_negations(formula.operands[0], negated=not negated)
        case "atom":
            return negation(formula) if negated else formula
        case operator:
            operands = tuple(push_negations(each, negated=negated) for each in formula.operands)
            return simplify(Formula(DUAL[operator] if negated else operator, operands))


def simplify(formula: Formula) -> Formula:
    """Fold an operator over constants and equal operands; the operands are simple already."""
    match formula.operator, formula.operands:
        case "and", (left, right):
            if FALSE in (left, right):
                return FALSE
            if left in (right, TRUE):
                return right
            return left if right == TRUE else formula
        case "or", (left, right):
            if TRUE in (left, right):
                return TRUE
            if left in (right, FALSE):
                return right
            return left if right == FALSE else formula
        case (("until" | "release"), (left, right)):
            return right if right in (TRUE, FALSE) or left == right else formula
        case "next", (operand,):
            return operand if operand in (TRUE, FALSE) else formula
    return formula
