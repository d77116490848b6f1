"""Folding simplifies what is known and leaves every fault and every shared load in place."""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.expressions import Binary, Choice, Conditional, Const, Element, Expr, Load
from mazurka.ir.passes.fold import fold
from mazurka.ir.passes.ranges import infer_ranges
from mazurka.ir.program import (
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Operation,
    Program,
    Role,
    Span,
    Thread,
)

FIRST, SECOND, SHARED = 2, 3, 4


def edge(
    source: int,
    target: int,
    *operations: Operation,
    guard: Expr | None = None,
    kind: Kind = Kind.LOCAL,
) -> Edge:
    return Edge(source, target, kind, Span("m.py", source), guard, operations)


def folded(*edges: Edge) -> tuple[Edge, ...]:
    cells = (
        Cell("null", 0, 0),
        Cell("pc", 0, 8, 3, 0, Role.COUNTER),
        Cell("i", 0, 0, 2, 0, inferred=True),
        Cell("j", 0, 0, 0, 0, inferred=True),
        *(Cell(f"a{n}", 0, 9, 0) for n in range(3)),
    )
    thread = Thread("t", 1, 3, (Location(),) * 9, edges)
    inference = infer_ranges(Program("p", cells, (thread,)))
    return fold(inference.program, inference).threads[0].edges


def get(address: int) -> Expr:
    return Load(Const(address))


def is_two(address: int) -> Expr:
    return Binary("eq", get(address), Const(2))


def test_known_locals_become_constants() -> None:
    store = Assign(Element(Const(4), get(FIRST), 3, 1), Binary("add", get(FIRST), Const(1)))
    assert folded(edge(3, 0, store))[0].operations == (Assign(Const(6), Const(3)),)


def test_an_index_out_of_bounds_stays() -> None:
    store = Assign(Element(Const(4), Binary("add", get(FIRST), Const(1)), 3, 1), Const(1))
    (result,) = folded(edge(3, 0, store))
    assert result.operations == (Assign(Element(Const(4), Const(3), 3, 1), Const(1)),)


def test_shared_loads_stay_though_their_value_is_known() -> None:
    check = Check(Binary("eq", get(SHARED), Const(0)), Fault.ASSERT, "zero")
    assert folded(edge(3, 0, check))[0].operations == (check,)
    guard = Binary("eq", get(SHARED), Binary("sub", get(FIRST), Const(2)))
    (result,) = folded(edge(3, 0, guard=guard))
    assert result.guard == Binary("eq", get(SHARED), Const(0))


def test_known_guards() -> None:
    first, second = (
        edge(3, 4, guard=is_two(FIRST)),
        edge(3, 5, guard=Binary("ne", get(FIRST), Const(2))),
    )
    beyond, never = edge(4, 0), edge(5, 0)
    assert folded(first, second, beyond, never) == (edge(3, 4), beyond)


def test_a_thread_that_waits_for_ever_still_waits() -> None:
    (result,) = folded(edge(3, 0, guard=Binary("gt", get(FIRST), Const(2))))
    assert result.guard == Const(0)


def test_waiting_does_not_turn_into_a_failed_assumption() -> None:
    waits = edge(3, 0, guard=Binary("gt", get(FIRST), Const(2)))
    assumes = edge(3, 0, guard=is_two(SHARED), kind=Kind.ASSUME)
    assert [e.kind for e in folded(waits, assumes)] == [Kind.LOCAL, Kind.ASSUME]


def test_checks_that_hold_go_and_others_stay() -> None:
    holds = Check(is_two(FIRST), Fault.ASSERT, "two")
    fails = Check(is_two(SECOND), Fault.ASSERT, "not two")
    after = Assign(Const(SECOND), get(FIRST))
    (result,) = folded(edge(3, 0, holds, fails, after))
    assert result.operations == (Check(Const(0), Fault.ASSERT, "not two"), after)


def test_conditionals_with_a_known_test() -> None:
    choice = Conditional(is_two(FIRST), get(SHARED), Binary("floordiv", Const(1), get(SECOND)))
    (result,) = folded(edge(3, 0, Assign(Const(SECOND), choice)))
    assert result.operations == (Assign(Const(SECOND), get(SHARED)),)


def test_a_test_that_every_value_passes_goes() -> None:
    place = Element(Const(4), get(SECOND), 3, 1)
    lower, upper = (Binary("lt", place, Const(end)) for end in (6, 8))
    inside = Conditional(lower, Binary("ge", place, Const(4)), upper)
    choose = Edge(3, 4, Kind.CHOOSE, Span("m.py", 3), None, (Assign(Const(SECOND), Choice()),), 3)
    stored = Conditional(inside, Binary("add", place, Const(1)), Const(9))
    result = folded(choose, edge(4, 0, Assign(Const(FIRST), stored)))[1]
    assert result.operations == (Assign(Const(FIRST), Binary("add", place, Const(1))),)


def test_branches_know_their_test() -> None:
    choice = Conditional(is_two(SHARED), is_two(SHARED), Binary("add", get(FIRST), get(SHARED)))
    (result,) = folded(edge(3, 0, Assign(Const(SECOND), choice)))
    expected = Conditional(is_two(SHARED), is_two(SHARED), Binary("add", Const(2), get(SHARED)))
    assert result.operations == (Assign(Const(SECOND), expected),)


def test_a_division_by_zero_stays() -> None:
    divide = Assign(Const(SECOND), Binary("mod", Const(7), get(SECOND)))
    (result,) = folded(edge(3, 0, divide))
    assert result.operations == (Assign(Const(SECOND), Binary("mod", Const(7), Const(0))),)


def test_an_address_is_narrowed_to_where_it_leads_here() -> None:
    cells = (
        Cell("null", 0, 0),
        Cell("pc", 0, 8, 3, 0, Role.COUNTER),
        Cell("temporary", 0, 0, 0, 0, Role.POINTER, inferred=True),
        *(Cell(f"a{n}", 0, 9, 0) for n in range(6)),
    )
    low = Assign(Const(2), Element(Const(3), Choice(), 2, 1))
    edges = (
        replace(edge(3, 4, low, kind=Kind.CHOOSE), choices=2),
        edge(4, 5, Assign(get(2), Const(1)), kind=Kind.ACCESS),
        edge(5, 6, Assign(Const(2), Const(8))),
        edge(6, 0, Assign(get(2), Const(1)), kind=Kind.ACCESS),
    )
    thread = Thread("t", 1, 3, (Location(),) * 9, edges)
    inference = infer_ranges(Program("p", cells, (thread,)))
    made = fold(inference.program, inference).threads[0].edges
    narrowed = Element(Const(3), Binary("sub", get(2), Const(3)), 2, 1)
    assert made[1].operations == (Assign(narrowed, Const(1)),)
    assert made[3].operations == (Assign(Const(8), Const(1)),)
