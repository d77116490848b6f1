"""Marks of joined threads are dropped where nobody can find them."""

from __future__ import annotations

from mazurka.ir.expressions import ZERO, Binary, Const, Load
from mazurka.ir.passes.joined import drop_unseen_join_marks
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Program,
    Role,
    Span,
    Thread,
)

HERE = Span("joins", 1)
STATUS, DONE, JOINED = 2, 2, 3


def is_(value: int) -> Binary:
    return Binary("eq", Load(Const(STATUS)), Const(value))


def join(source: int, target: int) -> tuple[Edge, Edge]:
    mark = Assign(Const(STATUS), Const(JOINED))
    wrong = Check(ZERO, Fault.EXCEPTION, "joined already")
    return (
        Edge(source, target, Kind.JOIN, HERE, guard=is_(DONE), operations=(mark,)),
        Edge(source, target, Kind.JOIN, HERE, guard=is_(JOINED), operations=(wrong,)),
    )


def make(*edges: Edge) -> Program:
    cells = (
        Cell("null", 0, 0),
        Cell("counter", 0, 9, FIRST_LOCATION, owner=0, role=Role.COUNTER),
        Cell("status", 0, JOINED, DONE, role=Role.SYNC),
        Cell("x", 0, 1),
    )
    locations = (Location(),) * (FIRST_LOCATION + 3)
    return Program("joins", cells, (Thread("main", 1, FIRST_LOCATION, locations, edges),))


def test_thread_that_is_joined_once() -> None:
    (edge,) = drop_unseen_join_marks(make(*join(FIRST_LOCATION, FINISHED))).edges
    assert edge.operations == ()


def test_thread_that_is_joined_at_two_places() -> None:
    program = make(*join(FIRST_LOCATION, FIRST_LOCATION + 1), *join(FIRST_LOCATION + 1, FINISHED))
    assert drop_unseen_join_marks(program) == program


def test_join_in_a_loop() -> None:
    back = Edge(FIRST_LOCATION + 1, FIRST_LOCATION, Kind.LOCAL, HERE)
    program = make(*join(FIRST_LOCATION, FIRST_LOCATION + 1), back)
    assert drop_unseen_join_marks(program) == program


def test_mark_that_somebody_else_reads() -> None:
    """The edge that looks for the mark can go, the mark itself stays."""
    look = Assign(Const(3), is_(JOINED))
    program = make(
        *join(FIRST_LOCATION, FIRST_LOCATION + 1),
        Edge(FIRST_LOCATION + 1, FINISHED, Kind.ACCESS, HERE, operations=(look,)),
    )
    first, second = drop_unseen_join_marks(program).edges
    assert first == program.edges[0]
    assert second == program.edges[2]


def test_mark_that_is_there_already() -> None:
    program = make(*join(FIRST_LOCATION, FINISHED))
    cells = list(program.cells)
    cells[STATUS] = Cell("status", 0, JOINED, JOINED, role=Role.SYNC)
    program = Program("joins", tuple(cells), program.threads)
    assert drop_unseen_join_marks(program) == program
