"""What expressions are worth, in which order they are evaluated, and how they fail."""

from __future__ import annotations

import pytest
from operator_cases import BINARY_CASES, CONVERT_CASES, UNARY_CASES
from tests.unit.ir.programs import Builder, load, put

from mazurka.ir.expressions import (
    Binary,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
)
from mazurka.ir.interpreter import Interpreter, Outcome, Step
from mazurka.ir.program import FINISHED, WRONG, Assign, Check, Fault, Operation

DIVIDE_BY_ZERO = Binary("div", Const(1), Const(0))
OUTSIDE = Element(Const(1), Const(2), 2, 1)
NULL_READ = Load(Const(0))


def value_of(expr: Expr) -> int | None:
    builder = Builder()
    builder.thread().line(put(1, 3))
    program = builder.program()
    return Interpreter(program).value(program.initial_state(), 0, expr)


def step_doing(*operations: Operation) -> Step:
    """One edge on the array a (cells 1, 2; 0..9) and x (cell 3; -2..2); the counter is cell 4."""
    builder = Builder()
    builder.shared("a[0]", 0, 9, 4)
    builder.shared("a[1]", 0, 9, 5)
    builder.shared("x", -2, 2)
    body = builder.thread()
    body.edge(body.at(), FINISHED, *operations)
    program = builder.program()
    return Interpreter(program).step(program.initial_state(), 0)


def fault_of(step: Step) -> Fault | None:
    return step.fault.fault if step.fault else None


@pytest.mark.parametrize(("operator", "left", "right", "result"), BINARY_CASES)
def test_binary(operator: str, left: int, right: int, result: int) -> None:
    assert value_of(Binary(operator, Const(left), Const(right))) == result


@pytest.mark.parametrize(("operator", "operand", "result"), UNARY_CASES)
def test_unary(operator: str, operand: int, result: int) -> None:
    assert value_of(Unary(operator, Const(operand))) == result


@pytest.mark.parametrize(("operand", "width", "signed", "result"), CONVERT_CASES)
def test_convert(operand: int, width: int, signed: bool, result: int) -> None:
    assert value_of(Convert(Const(operand), width, signed)) == result


@pytest.mark.parametrize("operator", ["floordiv", "mod", "div", "rem", "udiv", "urem"])
def test_a_zero_divisor_is_an_exception(operator: str) -> None:
    step = step_doing(put(3, Binary(operator, Const(1), Const(0))))
    assert step.fault is not None
    assert (step.fault.fault, step.fault.message) == (Fault.EXCEPTION, "division by zero")


@pytest.mark.parametrize("operator", ["shl", "shr", "lshr"])
@pytest.mark.parametrize("places", [-1, 64])
def test_a_shift_outside_0_to_63_is_an_exception(operator: str, places: int) -> None:
    step = step_doing(put(3, Binary(operator, Const(0), Const(places))))
    assert step.fault is not None
    assert step.fault.fault is Fault.EXCEPTION
    assert f"shift by {places}," in step.fault.message


@pytest.mark.parametrize(("value", "fault"), [(-2, None), (2, None), (-3, "range"), (3, "range")])
def test_a_value_outside_the_range_of_its_cell_is_not_stored(value: int, fault: str | None) -> None:
    step = step_doing(put(3, value))
    assert fault_of(step) == fault
    assert step.state[3] == (value if fault is None else 0)
    assert step.footprint_writes == ({3} if fault is None else set())


def test_a_range_fault_names_the_cell_and_the_value() -> None:
    step = step_doing(put(3, 7))
    assert step.fault is not None
    assert step.fault.message == "`x` would become 7, outside -2..2"


@pytest.mark.parametrize(("index", "fault"), [(0, None), (1, None), (-1, "index"), (2, "index")])
def test_an_index_must_lie_within_the_array(index: int, fault: str | None) -> None:
    step = step_doing(Assign(Element(Const(1), Const(index), 2, 1), Const(8)))
    assert fault_of(step) == fault
    if fault is None:
        assert step.state[1 + index] == 8
        assert step.footprint_writes == {1 + index}
    else:
        assert step.fault is not None
        assert step.fault.message == f"index {index} is outside 0..1 of `a`"


@pytest.mark.parametrize("address", [0, -1, 5, 2**40])
def test_null_and_what_is_no_address_cannot_be_read_or_written(address: int) -> None:
    assert fault_of(step_doing(put(3, Load(Const(address))))) is Fault.MEMORY
    assert fault_of(step_doing(put(address, 0))) is Fault.MEMORY


@pytest.mark.parametrize(
    ("operation", "fault"),
    [
        # The address is evaluated first, then the value; only then is anything stored.
        (Assign(OUTSIDE, DIVIDE_BY_ZERO), Fault.INDEX),
        (Assign(Const(0), DIVIDE_BY_ZERO), Fault.EXCEPTION),
        (Assign(Const(0), Const(99)), Fault.MEMORY),
        (put(3, Const(99)), Fault.RANGE),
        # Operands from left to right, and both before the operator.
        (put(3, Binary("add", NULL_READ, DIVIDE_BY_ZERO)), Fault.MEMORY),
        (put(3, Binary("add", DIVIDE_BY_ZERO, NULL_READ)), Fault.EXCEPTION),
        (put(3, Binary("div", NULL_READ, Const(0))), Fault.MEMORY),
        (Assign(Element(NULL_READ, DIVIDE_BY_ZERO, 2, 1), Const(0)), Fault.MEMORY),
        (Assign(Element(Const(1), DIVIDE_BY_ZERO, 2, 1), Const(0)), Fault.EXCEPTION),
        # The branch that is not taken is not evaluated.
        (put(3, Conditional(Const(0), DIVIDE_BY_ZERO, Const(1))), None),
        (put(3, Conditional(Const(2), Const(1), DIVIDE_BY_ZERO)), None),
        (put(3, Conditional(NULL_READ, DIVIDE_BY_ZERO, DIVIDE_BY_ZERO)), Fault.MEMORY),
        # A check evaluates its condition first.
        (Check(NULL_READ, Fault.ASSERT, ""), Fault.MEMORY),
        (Check(Const(0), Fault.LOCK, ""), Fault.LOCK),
        (Check(Const(-1), Fault.LOCK, ""), None),
    ],
)
def test_order_of_evaluation_decides_which_fault_it_is(
    operation: Operation, fault: Fault | None
) -> None:
    step = step_doing(operation)
    assert fault_of(step) is fault
    assert step.state[4] == (FINISHED if fault is None else WRONG)


def test_operations_see_the_effects_of_those_before() -> None:
    step = step_doing(put(1, 7), put(2, load(1)), put(1, Binary("add", load(1), load(2))))
    assert step.fault is not None  # 7 + 7 is more than 9
    assert step.state[1:3] == (7, 7)
    assert step_doing(put(1, 3), put(2, load(1)), put(1, load(2))).state[1:3] == (3, 3)


def test_accesses_are_in_order_and_carry_values() -> None:
    step = step_doing(put(3, Binary("sub", load(2), load(1))))
    found = [(access.address, access.value, access.write) for access in step.accesses]
    assert found == [(2, 5, False), (1, 4, False), (3, 1, True)]


def test_only_the_branch_taken_is_in_the_footprint() -> None:
    choose = Conditional(load(3), load(1), load(2))
    step = step_doing(put(1, choose))
    assert (step.footprint_reads, step.footprint_writes) == ({3, 2}, {1})


def test_element_adds_index_times_stride_to_the_base() -> None:
    assert value_of(Element(Const(10), Const(3), 4, 5)) == 25
    assert value_of(Element(Const(10), Const(4), 4, 5)) is None


def test_value_is_none_where_evaluation_fails() -> None:
    assert value_of(DIVIDE_BY_ZERO) is None
    assert value_of(Const(4)) == 4


def test_a_step_that_fails_has_happened_one_that_waits_has_not() -> None:
    assert step_doing(put(3, 99)).happened
    waiting = Builder()
    body = waiting.thread()
    body.edge(body.at(), FINISHED, guard=Const(0))
    step = Interpreter(waiting.program()).step((0, 3), 0)
    assert step.outcome is Outcome.WAITS
    assert not step.happened
