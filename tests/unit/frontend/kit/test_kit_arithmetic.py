"""Expressions of the kit: constants are worked out, faults are left to the running program."""

from __future__ import annotations

import pytest

from mazurka.frontend.kit.arithmetic import (
    binary,
    boolean,
    both,
    conditional,
    either,
    element,
    select,
    total,
    unary,
)
from mazurka.ir import arithmetic
from mazurka.ir.expressions import (
    BINARY_OPERATORS,
    DIVISIONS,
    ONE,
    SHIFTS,
    UNARY_OPERATORS,
    ZERO,
    Binary,
    Conditional,
    Const,
    Element,
    Load,
    Unary,
)

X = Load(Const(1))


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("add", 2, 3, 5),
        ("floordiv", -7, 2, -4),
        ("mod", -7, 2, 1),
        ("shr", -8, 1, -4),
        ("lt", 1, 2, 1),
        ("div", -7, 2, -3),
        ("rem", -7, 2, -1),
        ("udiv", -1, 2**62, 3),
        ("urem", -1, 2**62, 2**62 - 1),
        ("lshr", -1, 1, 2**63 - 1),
        ("ult", 1, -1, 1),
        ("ule", -1, 1, 0),
    ],
)
def test_constants_are_worked_out(operator: str, left: int, right: int, result: int) -> None:
    assert binary(operator, Const(left), Const(right)) == Const(result)


@pytest.mark.parametrize(
    ("operator", "left", "right"),
    [
        *((operator, 1, 0) for operator in sorted(DIVISIONS)),
        *((operator, 1, shift) for operator in sorted(SHIFTS) for shift in (-1, 64)),
        ("mul", 2**62, 2),
        ("shl", 1, 63),
        ("floordiv", -(2**63), -1),
        ("div", -(2**63), -1),
    ],
)
def test_what_could_fault_or_overflow_is_left(operator: str, left: int, right: int) -> None:
    assert isinstance(binary(operator, Const(left), Const(right)), Binary)


@pytest.mark.parametrize("operator", sorted(BINARY_OPERATORS))
@pytest.mark.parametrize(("left", "right"), [(6, 2), (-7, 3), (5, -1), (2**62, 4)])
def test_what_is_worked_out_is_what_the_program_would_compute(
    operator: str, left: int, right: int
) -> None:
    found = binary(operator, Const(left), Const(right))
    if isinstance(found, Const):
        assert found.value == arithmetic.binary(operator, left, right)


@pytest.mark.parametrize("operator", sorted(UNARY_OPERATORS))
def test_unary_operators_are_worked_out_or_left(operator: str) -> None:
    assert unary(operator, Const(-5)) == Const(arithmetic.UNARY[operator](-5))
    lowest = unary(operator, Const(-(2**63)))
    assert isinstance(lowest, Const) == (operator not in ("neg", "abs"))


def test_adding_nothing_adds_nothing() -> None:
    assert binary("add", X, ZERO) == binary("add", ZERO, X) == binary("sub", X, ZERO) == X


def test_a_constant_condition_leaves_one_side() -> None:
    assert conditional(ONE, X, ZERO) == X
    assert conditional(ZERO, X, ONE) == ONE
    assert conditional(X, ONE, ONE) == ONE
    assert isinstance(conditional(X, ONE, ZERO), Conditional)


def test_connectives_are_lazy_and_give_0_or_1() -> None:
    assert both(ZERO, X) == ZERO
    assert either(ONE, X) == ONE
    assert both(Const(7), Const(5)) == ONE
    assert both(X, ONE) == boolean(X)
    assert unary("not", Const(3)) == ZERO


def test_the_address_of_an_element() -> None:
    assert element(Const(10), Const(2), 3, 4) == Const(18)
    assert element(Const(10), X, 3, 4) == Element(Const(10), X, 3, 4)


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_out_of_range_is_met_when_the_program_runs(index: int) -> None:
    assert element(Const(10), Const(index), 3, 4) == Element(Const(10), Const(index), 3, 4)


def test_selecting_and_adding_up() -> None:
    assert select(Const(1), [Const(5), Const(6), Const(7)]) == Const(6)
    assert total([Const(1), Const(2), X]) == Binary("add", Const(3), X)
    assert total([]) == ZERO


def test_an_unknown_operator_is_left_for_the_check_of_the_program() -> None:
    assert binary("+", Const(1), Const(3)) == Binary("+", Const(1), Const(3))
    assert unary("!", Const(1)) == Unary("!", Const(1))
