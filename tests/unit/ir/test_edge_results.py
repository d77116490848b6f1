"""An edge that finds the same values does the same."""

from __future__ import annotations

from tests.unit.ir.edge_result_cases import find_programs, is_different

from mazurka.ir.expressions import Binary, Const, Load
from mazurka.ir.program import Assign, Cell, Edge, Kind, Span
from mazurka.ir.values.edge_results import EdgeResult, WatchedFacts, follow_edge
from mazurka.ir.values.evaluation import EMPTY, ValueSet

X, Y, Z = 1, 2, 3
CELLS = tuple(Cell(name, 0, 9) for name in "0xyz")
SUMMARY = {X: ValueSet.of(0, 1, 2), Y: ValueSet.of(5), Z: ValueSet.of(7)}


def elsewhere(address: int) -> ValueSet:
    return SUMMARY.get(address, EMPTY)


def follow(edge: Edge, known: dict[int, ValueSet]) -> EdgeResult:
    facts = WatchedFacts(dict(known), elsewhere, 1, False, EdgeResult())
    return follow_edge(edge, known, facts, CELLS, lambda address, values: None)


def test_only_what_was_asked_for_counts() -> None:
    """`if x < 2: y = x + 1`."""
    add = Assign(Const(Y), Binary("add", Load(Const(X)), Const(1)))
    guard = Binary("lt", Load(Const(X)), Const(2))
    edge = Edge(3, 4, Kind.LOCAL, Span("edges", 1), guard=guard, operations=(add,))
    known = {X: ValueSet.of(1, 2), Z: ValueSet.of(7)}
    result = follow(edge, known)
    assert result.behind(known) == {X: ValueSet.of(1), Y: ValueSet.of(2), Z: ValueSet.of(7)}
    other = {X: ValueSet.of(1, 2), Z: ValueSet.of(8)}
    assert result.fits(other, elsewhere)
    assert result.behind(other) == {X: ValueSet.of(1), Y: ValueSet.of(2), Z: ValueSet.of(8)}
    assert not result.fits({X: ValueSet.of(0, 2)}, elsewhere)
    assert not result.fits({}, elsewhere)  # the same values would be found elsewhere


def test_a_store_somewhere_depends_on_what_it_weakens() -> None:
    """`*p = 9` where p leads to y or z: what was known of them counts, and that it was known."""
    store = Assign(Load(Const(X)), Const(9))
    edge = Edge(3, 4, Kind.LOCAL, Span("edges", 1), operations=(store,))
    known = {X: ValueSet.of(Y, Z), Y: ValueSet.of(5)}
    result = follow(edge, known)
    assert result.changed == {Y: ValueSet.of(5, 9)}
    assert result.stored == [(Y, ValueSet.of(9)), (Z, ValueSet.of(9))]
    assert result.fits(known, elsewhere)
    assert not result.fits({X: ValueSet.of(Y, Z), Y: ValueSet.of(6)}, elsewhere)
    assert not result.fits({X: ValueSet.of(Y, Z)}, elsewhere)
    assert not result.fits({**known, Z: ValueSet.of(7)}, elsewhere)


def test_remembering_changes_nothing() -> None:
    assert not any(map(is_different, find_programs(60)))
