"""Static footprints contain what a step can touch, and say when they know no bound."""

from __future__ import annotations

from tests.unit.ir.programs import Builder, equals, load, put

from mazurka.ir.expressions import Binary, Choice, Const, Element, Load
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, Assign, Cell, Check, Fault, Kind, Program, Role
from mazurka.ir.values.footprints import Footprints, cell_values


def some_program() -> Program:
    """Cells: 1..3 an array, 4 an index 0..1, 5 a pointer, 6 the counter, 7 a local, 8 another's."""
    builder = Builder()
    for index in range(3):
        builder.shared(f"a[{index}]", 0, 9)
    builder.shared("i", 0, 1)
    builder.add(Cell("p", 0, 3, 1, role=Role.POINTER, points=(0, 1, 3)))
    body = builder.thread()
    body.local("own", 0, 9)
    body.edge(
        body.at(),
        FINISHED,
        Assign(Element(Const(1), load(4), 3, 1), load(7)),
        Check(Load(load(5)), Fault.ASSERT, ""),
        guard=equals(3, 0),
    )
    builder.thread().local("foreign", 0, 9)
    return builder.program()


def test_targets_of_constants_are_cells_only() -> None:
    footprints = Footprints(some_program())
    assert footprints.targets(Const(4)) == (4,)
    assert footprints.targets(Const(0)) == ()
    assert footprints.targets(Const(99)) == ()


def test_targets_of_elements_follow_the_values_of_the_index() -> None:
    footprints = Footprints(some_program())
    assert footprints.targets(Element(Const(1), load(4), 3, 1)) == (1, 2)  # i is 0 or 1
    assert footprints.targets(Element(Const(1), load(7), 3, 1)) == (1, 2, 3)  # cut to the array
    assert footprints.targets(Element(Const(1), Choice(), 3, 1), choices=2) == (1, 2)


def test_loads_follow_the_choices_of_their_edge() -> None:
    footprints = Footprints(some_program())
    chosen = Load(Element(Const(1), Choice(), 3, 1))
    assert list(footprints.loads(chosen, 2)) == [1, 2]
    assert list(footprints.loads(chosen)) == [1]


def test_targets_of_pointers_are_the_cells_they_may_hold() -> None:
    footprints = Footprints(some_program())
    assert footprints.targets(load(5)) == (1, 3)
    assert not footprints.is_surely_cell(load(5))  # it may be null
    assert footprints.is_surely_cell(Element(Const(1), load(4), 3, 1))
    assert footprints.is_surely_cell(Const(1))
    assert not footprints.is_surely_cell(Const(0))


def test_an_address_without_bound_may_be_any_cell() -> None:
    program = some_program()
    wild = Binary("mul", load(7), load(7))
    found = Footprints(program).targets(wild)
    assert {1, 4, 9} <= set(found)  # squares of 0..9 that are cells
    assert 0 not in found


def test_footprint_of_an_edge() -> None:
    program = some_program()
    touched = Footprints(program).of_edge(program.edges[0])
    # guard: 3; address: i; value: own; condition: the pointer and what it may point to
    assert touched.reads == {3, 4, 7, 5, 1}
    assert touched.writes == {1, 2}
    assert not touched.only_own(program, 0)


def test_only_own() -> None:
    builder = Builder()
    first, second = builder.thread(), builder.thread()
    own, foreign = first.local("own", 0, 1), second.local("foreign", 0, 1)
    here = first.at()
    first.edge(here, here, put(own, load(own)), kind=Kind.LOCAL)
    first.edge(here, here, put(own, load(foreign)))
    first.edge(here, here, put(foreign, load(own)))
    first.edge(here, here, guard=equals(foreign, 0))
    program = builder.program()
    edges = [Footprints(program).of_edge(edge) for edge in program.edges]
    assert [touched.only_own(program, 0) for touched in edges] == [True, False, False, False]


def test_values_of_a_cell() -> None:
    interval = cell_values(Cell("x", -2, 5))
    assert (interval.low, interval.high) == (-2, 5)
    points = cell_values(Cell("p", 0, 100, points=(0, 7, 90)))
    assert points.points == (0, 7, 90)


def test_a_pointer_with_a_hundred_targets_has_no_others() -> None:
    """Records of three cells, to the first of which it points; by way of an array of pointers."""
    builder = Builder()
    body = builder.thread()
    firsts = [builder.shared(f"record[{n}].{f}", 0, 1) for n in range(100) for f in "abc"][::3]
    pointers = [
        builder.add(Cell(f"p[{n}]", 0, 0, first, role=Role.POINTER, inferred=True))
        for n, first in enumerate(firsts)
    ]
    pointer = builder.add(Cell("p", 0, 0, owner=0, role=Role.POINTER, inferred=True))
    here, there = body.at(), body.at()
    element = Load(Element(Const(pointers[0]), Choice(), 100, 1))
    moved = Binary("add", element, Const(1))
    body.edge(here, there, put(pointer, moved), kind=Kind.CHOOSE, choices=100, atomic=True)
    body.edge(there, here, Assign(load(pointer), Const(1)))
    program = prepare(builder.program())
    (store,) = program.threads[0].edges[1].stores
    targets = Footprints(program).targets(store.address)
    assert targets == tuple(first + 1 for first in firsts)
