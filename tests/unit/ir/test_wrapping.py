"""Numbers that are meant to wrap around: C's types, up to 64 bits, with and without a sign."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, load

from mazurka.errors import UnsupportedError
from mazurka.ir.expressions import Binary, Choice, Conditional, Const, Convert, Expr, Unary
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.ranges import Inference, infer_ranges
from mazurka.ir.program import FINISHED, Assign, Cell, Kind, Program
from mazurka.ir.serialize import from_json, to_json
from mazurka.ir.values.evaluation import TOP, ValueSet, evaluate
from mazurka.ir.values.intervals import LARGEST, SMALLEST
from mazurka.report.places import shown_value

EVERY_INT = (-(2**31), 2**31 - 1)


def as_int(value: Expr) -> Expr:
    return Convert(value, 32, True)


def as_unsigned_long(value: Expr) -> Expr:
    return Convert(value, 64, False)


def counting(value: Expr, *, rounds: int | None = None, threads: int = 1) -> Program:
    """Threads that assign the value to `x` in a loop, which has so many rounds."""
    builder = Builder()
    x = builder.add(Cell("x", 0, 0, inferred=True))
    assert x == X
    for number in range(threads):
        body = builder.thread()
        i = builder.add(Cell("i", 0, 0, owner=number, inferred=True))
        head, inside = body.at(), body.at()
        goes_on = None if rounds is None else Binary("lt", load(i), Const(rounds))
        body.edge(head, inside, kind=Kind.LOCAL, guard=goes_on)
        if rounds is not None:
            ended = Binary("ge", load(i), Const(rounds))
            body.edge(head, FINISHED, kind=Kind.LOCAL, guard=ended)
        more = as_int(Binary("add", load(i), Const(1)))
        operations = [Assign(Const(X), value)]
        if rounds is not None:
            operations.append(Assign(Const(i), more))
        body.edge(inside, head, *operations)
    return builder.program()


X = 1
"""Builders put program counters behind what was added before."""
ONE_MORE = Binary("add", load(X), Const(1))


def ends(inference: Inference) -> tuple[int, int]:
    return inference.cells[X].low, inference.cells[X].high


def test_a_counter_of_64_bits_is_accepted_where_wrapping_is_meant() -> None:
    assert ends(infer_ranges(counting(as_unsigned_long(ONE_MORE)))) == (SMALLEST, LARGEST)
    for value in (ONE_MORE, Binary("mod", as_unsigned_long(ONE_MORE), Const(3))):
        program = counting(value)
        if value is ONE_MORE:
            with pytest.raises(Exception, match="may grow without limit"):
                infer_ranges(program)
        else:
            assert ends(infer_ranges(program)) == (0, 2)


def test_what_is_not_converted_is_refused_as_before() -> None:
    twice = Binary("add", as_unsigned_long(Binary("mul", load(X), Const(3))), Const(1))
    with pytest.raises(UnsupportedError, match="may exceed 64 bits"):
        infer_ranges(counting(Binary("mod", twice, Const(LARGEST))))
    hidden = as_unsigned_long(Binary("min", ONE_MORE, Const(LARGEST)))
    with pytest.raises(Exception, match=r"may grow without limit|may exceed 64 bits"):
        infer_ranges(counting(hidden))


def test_wrapping_is_meant_for_sums_and_products_below_a_conversion() -> None:
    square = Binary("mul", load(X), load(X))
    more = Binary("add", square, Const(7))
    for value in (more, Unary("neg", more), Binary("shl", more, Const(3))):
        assert ends(infer_ranges(counting(as_int(value)))) == EVERY_INT


def test_a_counter_in_a_loop_with_a_known_number_of_rounds_does_not_wrap_around() -> None:
    assert ends(infer_ranges(counting(as_int(ONE_MORE), rounds=5, threads=3))) == (0, 15)
    assert ends(infer_ranges(counting(as_int(ONE_MORE)))) == EVERY_INT
    small = Convert(ONE_MORE, 8, True)
    assert ends(infer_ranges(counting(small, rounds=50, threads=2))) == (0, 100)
    assert ends(infer_ranges(counting(small, rounds=64, threads=2))) == (-128, 127)


def test_a_conversion_of_one_branch_counts() -> None:
    value = Conditional(Binary("lt", load(X), Const(9)), as_int(ONE_MORE), load(X))
    assert ends(infer_ranges(counting(value))) == (0, 9)


@pytest.mark.parametrize(
    ("width", "signed", "value", "expected"),
    [
        (8, False, Binary("add", Choice(), Const(200)), (200, 299)),
        (64, False, Binary("add", Choice(), Const(LARGEST)), None),
        (64, True, Binary("sub", Choice(), Const(5)), (-5, 94)),
        (32, True, Binary("mul", Choice(), Const(2**40)), None),
    ],
)
def test_values_of_conversions(
    width: int, signed: bool, value: Expr, expected: tuple[int, int] | None
) -> None:
    found = evaluate(Convert(value, width, signed), lambda address: TOP, 100)
    assert found.is_subset(TOP)
    for choice in range(100):
        machine = Interpreter(counting(as_int(ONE_MORE)))
        result = machine.value(
            machine.program.initial_state(), 0, _choose(value, choice, width, signed)
        )
        assert result is not None
        assert found.contains(result)
    if expected is not None and expected[1] < 2**width:
        assert found == ValueSet.interval(*expected)


def _choose(value: Expr, choice: int, width: int, signed: bool) -> Expr:
    assert isinstance(value, Binary)
    return Convert(Binary(value.operator, Const(choice), value.right), width, signed)


def test_a_choice_may_be_any_number() -> None:
    assert evaluate(Choice(), lambda address: TOP, 2**64) == TOP
    assert evaluate(Choice(), lambda address: TOP, 2**32).high == 2**32 - 1


def test_unsigned_numbers_are_shown_and_stored_as_such() -> None:
    builder = Builder()
    address = builder.add(Cell("n", SMALLEST, LARGEST, -1, unsigned=True))
    body = builder.thread()
    body.line(Assign(Const(address), as_unsigned_long(Binary("sub", load(address), Const(1)))))
    program = builder.program()
    again = from_json(to_json(prepare(program)))
    assert again.cells[address].unsigned
    step = Interpreter(again).step(again.initial_state(), 0)
    assert step.state[address] == -2
    assert shown_value(again, address, step.state[address]) == 2**64 - 2
