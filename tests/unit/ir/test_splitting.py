"""Conditions that ask for one expression again and again are judged by its values."""

from __future__ import annotations

from tests.unit.ir.splitting_cases import FLAG, POINTER, find_mistake, lookup

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Element, Load
from mazurka.ir.values.evaluation import ValueSet, evaluate
from mazurka.ir.values.facts import Facts

SUBJECT = Load(Const(POINTER))


def within(low: int, high: int) -> Conditional:
    return Conditional(Binary("ge", SUBJECT, Const(low)), Binary("le", SUBJECT, Const(high)), ZERO)


def test_no_value_is_left_out() -> None:
    for seed in range(120):
        assert find_mistake(seed) is None


def test_the_values_that_remain_are_exact() -> None:
    facts = Facts({}, lookup)
    assert facts.assume(Conditional(within(4, 5), ONE, within(9, 11)))
    assert facts.lookup(POINTER) == ValueSet.of(4, 5, 9)
    assert facts.assume(Conditional(within(4, 5), ZERO, ONE))
    assert facts.lookup(POINTER) == ValueSet.of(9)


def test_what_all_values_come_to_is_assumed() -> None:
    facts = Facts({}, lookup)
    assert facts.assume(Conditional(within(0, 12), Load(Const(FLAG)), ONE))
    assert facts.lookup(FLAG) == ValueSet.of(1)


def test_each_branch_has_its_own_values() -> None:
    left = Element(Const(20), Binary("sub", SUBJECT, Const(4)), 2, 1)
    right = Element(Const(40), Binary("sub", SUBJECT, Const(9)), 4, 1)
    where = Conditional(within(4, 5), left, Conditional(within(9, 12), right, ZERO))
    assert evaluate(where, lookup) == ValueSet.of(0, 20, 21, 40, 43)
