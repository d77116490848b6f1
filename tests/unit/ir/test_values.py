"""Value sets are lattices, and abstract evaluation never leaves out a value that can occur."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.ir.arithmetic import BINARY, binary
from mazurka.ir.expressions import (
    BINARY_OPERATORS,
    UNARY_OPERATORS,
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
from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.ir.program import Assign, Cell, Edge, Kind, Location, Program, Span, Thread
from mazurka.ir.values.evaluation import EMPTY, TOP, ValueSet, cannot_fault, evaluate, truth_of
from mazurka.ir.values.intervals import LARGEST, SMALLEST, binary_bounds

EXTREMES = (SMALLEST, SMALLEST + 1, -(2**32), -1, 0, 1, 2, 63, 64, 2**32, LARGEST - 1, LARGEST)


@st.composite
def value_sets(draw: st.DrawFn) -> ValueSet:
    numbers = st.one_of(st.integers(-70, 70), st.sampled_from(EXTREMES))
    if draw(st.booleans()):
        return ValueSet.of(*draw(st.lists(numbers, min_size=1, max_size=5)))
    first, second = draw(numbers), draw(numbers)
    return ValueSet.interval(min(first, second), max(first, second))


def some_member(values: ValueSet, chance: random.Random) -> int:
    if values.points is not None:
        return chance.choice(values.points)
    return chance.choice((values.low, values.high, chance.randint(values.low, values.high)))


def random_expression(chance: random.Random, depth: int) -> Expr:
    """Over cells 2..9, of which 4..9 are an array of three pairs."""
    if depth == 0 or chance.random() < 0.15:
        leaf = chance.randrange(4)
        if leaf == 0:
            return Const(chance.choice((*EXTREMES, 3, 4, 5, 9)))
        return Choice() if leaf == 1 else Load(Const(chance.randint(2, 9)))
    parts = [random_expression(chance, depth - 1) for _ in range(3)]
    match chance.randrange(8):
        case 0:
            return Unary(chance.choice(sorted(UNARY_OPERATORS)), parts[0])
        case 1:
            return Conditional(*parts)
        case 2:
            return Load(Element(Const(chance.choice((4, 5))), parts[0], 3, 2))
        case 3:
            return Load(parts[0])
        case 4:
            return Convert(parts[0], chance.choice((1, 8, 16, 32, 63, 64)), chance.random() < 0.5)
        case _:
            return Binary(chance.choice(sorted(BINARY_OPERATORS)), parts[0], parts[1])


def run(expr: Expr, cells: list[int], choices: int, choice: int) -> int | None:
    """The interpreter's word on the value; None for a fault."""
    span = Span("m.py", 1)
    wide = [Cell(f"c{i}", SMALLEST, LARGEST, value) for i, value in enumerate(cells)]
    wide[1] = Cell("pc", 0, 4, 3)
    edge = Edge(3, 0, Kind.CHOOSE, span, None, (Assign(Const(10), expr),), choices)
    thread = Thread("t", 1, 3, (Location(),) * 4, (edge,))
    wide.append(Cell("result", SMALLEST, LARGEST, 0))
    program = Program("p", tuple(wide), (thread,))
    step = Interpreter(program).step(program.initial_state(), 0, choice)
    assert step.outcome in (Outcome.MOVED, Outcome.FAULT)
    return step.state[10] if step.outcome is Outcome.MOVED else None


@settings(max_examples=400, deadline=None)
@given(
    st.lists(value_sets(), min_size=8, max_size=8), st.integers(0, 2**32), st.sampled_from((1, 3))
)
def test_what_happens_was_foreseen(sets: list[ValueSet], seed: int, choices: int) -> None:
    chance = random.Random(seed)
    counter = ValueSet.of(3)
    tail = ValueSet.of(0)
    known = dict(zip(range(1, 11), [counter, *sets, tail], strict=True))

    def lookup(address: int) -> ValueSet:
        return known.get(address, EMPTY)

    for _ in range(8):
        expr = random_expression(chance, 3)
        foreseen = evaluate(expr, lookup, choices)
        safe = cannot_fault(expr, lookup, choices)
        for _ in range(4):
            cells = [0, 3, *(some_member(values, chance) for values in sets)]
            value = run(expr, cells, choices, chance.randrange(choices))
            if value is None:
                assert not safe
            else:
                assert foreseen.contains(value), (expr, str(foreseen), value)


@settings(max_examples=400, deadline=None)
@given(value_sets(), value_sets(), st.sampled_from(sorted(BINARY_OPERATORS)), st.integers())
def test_ends_enclose_all_results(
    left: ValueSet, right: ValueSet, operator: str, seed: int
) -> None:
    chance = random.Random(seed)
    bounds = binary_bounds(operator, (left.low, left.high), (right.low, right.high))
    for _ in range(20):
        result = binary(operator, some_member(left, chance), some_member(right, chance))
        if result is not None:
            assert bounds is not None
            low, high = bounds
            assert low <= result <= high or not (low >= SMALLEST and high <= LARGEST)


@given(value_sets(), value_sets(), st.integers())
def test_lattice_operations(left: ValueSet, right: ValueSet, seed: int) -> None:
    chance = random.Random(seed)
    union, common = left.join(right), left.meet(right)
    wider = left.widen(right, (-10, 0, 10))
    for values in (left, right):
        assert values.is_subset(union)
        assert values.is_subset(wider)
        assert common.is_subset(values)
        member = some_member(values, chance)
        assert values.contains(member)
        assert union.contains(member)
        assert common.contains(member) == (left.contains(member) and right.contains(member))
        assert values.clip(-5, 5).contains(member) == (-5 <= member <= 5)
    assert EMPTY.is_subset(left)
    assert left.is_subset(TOP)
    assert left.join(EMPTY) == left == left.meet(TOP)


def test_small_intervals_are_listed() -> None:
    assert ValueSet.interval(3, 5) == ValueSet.of(5, 4, 3)
    assert ValueSet.interval(0, 63).points is not None
    assert ValueSet.interval(0, 64).points is None
    assert ValueSet.interval(2, 1) == EMPTY
    assert ValueSet.of() == EMPTY


def test_without_removes_members_and_ends() -> None:
    assert ValueSet.of(1, 2, 3).without(2) == ValueSet.of(1, 3)
    assert ValueSet.interval(0, 100).without(100) == ValueSet.interval(0, 99)
    assert ValueSet.interval(0, 100).without(50) == ValueSet.interval(0, 100)


def test_widening_stops_at_thresholds() -> None:
    start = ValueSet.interval(0, 100)
    assert start.widen(ValueSet.of(101), (0, 500)) == ValueSet.interval(0, 500)
    assert start.widen(ValueSet.of(501), (0, 500)) == ValueSet.interval(0, LARGEST)
    assert start.widen(ValueSet.of(-1), (0, 500)) == ValueSet.interval(SMALLEST, 100)


def test_addresses_of_many_elements_stay_exact() -> None:
    index = ValueSet.interval(0, 199)
    cells = {2: index}
    expr = Element(Const(10), Load(Const(2)), 200, 3)
    addresses = evaluate(expr, lambda a: cells.get(a, EMPTY))
    assert addresses.points == tuple(range(10, 610, 3))


def test_a_sum_that_overflows_could_be_anything() -> None:
    big = ValueSet.interval(0, LARGEST)
    expr = Binary("add", Load(Const(2)), Const(1))
    assert evaluate(expr, lambda a: big) == TOP
    assert evaluate(expr, lambda a: big, 1, True) == ValueSet.interval(1, LARGEST)


@pytest.mark.parametrize(
    ("left", "right", "floor", "modulo", "truncated", "remainder"),
    [(7, 2, 3, 1, 3, 1), (-7, 2, -4, 1, -3, -1), (7, -2, -4, -1, -3, 1), (-7, -2, 3, -1, 3, -1)],
)
def test_the_two_kinds_of_division(
    left: int, right: int, floor: int, modulo: int, truncated: int, remainder: int
) -> None:
    results = [BINARY[name](left, right) for name in ("floordiv", "mod", "div", "rem")]
    assert results == [floor, modulo, truncated, remainder]
    assert BINARY["floordiv"](SMALLEST, -1) == BINARY["div"](SMALLEST, -1) == SMALLEST


def test_truth_of_sets() -> None:
    assert truth_of(ValueSet.of(1, 5)) is True
    assert truth_of(ValueSet.of(0)) is False
    assert truth_of(ValueSet.of(0, 1)) is None
    assert truth_of(EMPTY) is None
