"""The ranges that loops, guards, atomic sections and other threads lead to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_automata import conjunction, disjunction

from mazurka.errors import UnsupportedError
from mazurka.ir.expressions import (
    Binary,
    Choice,
    Const,
    Element,
    Expr,
    Load,
    negate,
)
from mazurka.ir.passes.ranges import Inference, UnboundedError, infer_ranges
from mazurka.ir.program import (
    FINISHED,
    IDLE,
    WRONG,
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.ir.values.evaluation import ValueSet
from mazurka.ir.values.intervals import LARGEST

FIRST, SECOND, SHARED = 2, 3, 4


def edge(
    source: int, target: int, *operations: Operation, guard: Expr | None = None, choices: int = 1
) -> Edge:
    return Edge(source, target, Kind.LOCAL, Span("m.py", source), guard, operations, choices)


def put(address: int, value: Expr) -> Assign:
    return Assign(Const(address), value)


def get(address: int) -> Expr:
    return Load(Const(address))


def compare(address: int, operator: str, number: int) -> Expr:
    return Binary(operator, get(address), Const(number))


def step(address: int, amount: int) -> Assign:
    return put(address, Binary("add", get(address), Const(amount)))


def cell(name: str, owner: int | None = 0, initial: int = 0) -> Cell:
    return Cell(name, 0, 0, initial, owner, span=Span("m.py", 7), inferred=True)


def program(*edges: Edge, atomic: tuple[int, ...] = (), cells: tuple[Cell, ...] = ()) -> Program:
    """One thread from location 3; i and j are its locals, x is shared."""
    count = max(max(e.source, e.target) for e in edges) + 1
    locations = tuple(Location(Mode.ATOMIC if n in atomic else Mode.VISIBLE) for n in range(count))
    thread = Thread("main", 1, 3, locations, edges)
    known = cells or (cell("i"), cell("j"), cell("x", None))
    counter = Cell("pc", 0, count - 1, 3, 0, Role.COUNTER)
    return Program("p", (Cell("null", 0, 0), counter, *known), (thread,))


def loop(limit: int, amount: int = 1, operator: str = "lt", initial: int = 0) -> Program:
    test = compare(FIRST, operator, limit)
    return program(
        edge(3, 4, put(FIRST, Const(initial))),
        edge(4, 4, step(FIRST, amount), guard=test),
        edge(4, 0, guard=negate(test)),
    )


def ends(inference: Inference, address: int) -> tuple[int, int]:
    found = inference.program.cells[address]
    assert not found.inferred
    return found.low, found.high


@pytest.mark.parametrize("limit", [1, 10, 40, 100, 5000, 10**12])
def test_counting_up_and_down(limit: int) -> None:
    assert ends(infer_ranges(loop(limit)), FIRST) == (0, limit)
    down = loop(0, -1, "gt", limit)
    assert ends(infer_ranges(down), FIRST) == (0, limit)


def test_what_holds_after_the_loop() -> None:
    inference = infer_ranges(
        program(
            edge(3, 3, step(FIRST, 1), guard=compare(FIRST, "lt", 500)),
            edge(3, 4, guard=compare(FIRST, "ge", 500)),
            edge(4, 0, put(SECOND, get(FIRST))),
        )
    )
    assert inference.at[0][4][FIRST] == ValueSet.of(500)
    assert ends(inference, SECOND) == (0, 500)
    assert inference.program.cells[SECOND].points == (0, 500)


def test_steps_of_two_until_a_number_is_met() -> None:
    inference = infer_ranges(loop(100, 2, "ne"))
    assert inference.cells[FIRST].points == tuple(range(0, 101, 2))


@pytest.mark.parametrize("limit", [4, 300])
def test_nested_loops(limit: int) -> None:
    inference = infer_ranges(
        program(
            edge(3, 4, put(SECOND, Const(0)), guard=compare(FIRST, "lt", limit)),
            edge(3, 0, guard=compare(FIRST, "ge", limit)),
            edge(4, 4, step(SECOND, 1), guard=Binary("lt", get(SECOND), get(FIRST))),
            edge(4, 3, step(FIRST, 1), guard=Binary("ge", get(SECOND), get(FIRST))),
        )
    )
    assert ends(inference, FIRST) == (0, limit)
    assert ends(inference, SECOND) == (0, limit - 1)


def test_a_cell_that_is_never_assigned_keeps_its_value() -> None:
    cells = (cell("i", initial=7), cell("j"), cell("x", None, -3))
    inference = infer_ranges(program(edge(3, 0), cells=cells))
    assert ends(inference, FIRST) == (7, 7)
    assert ends(inference, SHARED) == (-3, -3)


def test_unbounded_cells_are_refused_with_advice() -> None:
    with pytest.raises(UnboundedError) as caught:
        infer_ranges(program(edge(3, 3, step(SHARED, 1))))
    assert (caught.value.file, caught.value.line) == ("m.py", 7)
    assert "`x`" in caught.value.message
    assert "`x: Int[0, 10] = 0`" in caught.value.message
    with pytest.raises(UnboundedError, match=r"Int\[-10, 10\]"):
        infer_ranges(program(edge(3, 3, step(SHARED, -1))))


def test_advice_for_other_languages_has_no_python() -> None:
    cells = (cell("i"), cell("j"), replace(cell("x", None), span=Span("m.toy", 7)))
    with pytest.raises(UnboundedError) as caught:
        infer_ranges(program(edge(3, 3, step(SHARED, 1)), cells=cells))
    assert caught.value.message == (
        "no range can be derived for `x` (it may grow without limit); give it a range"
    )


def test_a_temporary_that_grows_is_told_by_its_line() -> None:
    cells = (cell("temporary"), cell("j"), cell("x", None))
    with pytest.raises(UnboundedError) as caught:
        infer_ranges(program(edge(3, 4), edge(4, 4, step(FIRST, 1)), cells=cells))
    assert caught.value.message == (
        "no range can be derived for a value that is computed here (it may grow without limit);"
        " keep it small, for example with a remainder"
    )
    assert (caught.value.file, caught.value.line) == ("m.py", 4)


def test_arithmetic_beyond_64_bits_is_refused() -> None:
    large = Cell("i", 0, LARGEST, 0, 0)
    square = put(SECOND, Binary("mod", Binary("mul", get(FIRST), get(FIRST)), Const(5)))
    model = program(edge(3, 0, square), edge(3, 3, put(FIRST, Choice()), choices=2**20))
    assert ends(infer_ranges(model), SECOND) == (0, 4)
    grown = program(
        edge(3, 4, put(FIRST, Const(2**40))),
        edge(4, 0, square),
        cells=(large, cell("j"), cell("x")),
    )
    with pytest.raises(UnsupportedError, match="64 bits") as caught:
        infer_ranges(grown)
    assert caught.value.line == 4
    infer_ranges(grown, wraps=True)


def test_a_declared_range_stops_growth() -> None:
    declared = Cell("i", 0, 9, 0, 0)
    model = program(
        edge(3, 3, step(FIRST, 1), put(SECOND, get(FIRST))), cells=(declared, cell("j"), cell("x"))
    )
    assert ends(infer_ranges(model), SECOND) == (0, 9)


def test_guards_in_all_their_forms() -> None:
    pick = edge(3, 4, put(FIRST, Choice()), choices=21)
    for guard, expected in [
        (conjunction(compare(FIRST, "gt", 3), compare(FIRST, "le", 7)), range(4, 8)),
        (disjunction(compare(FIRST, "lt", 2), compare(FIRST, "eq", 9)), (0, 1, 9)),
        (negate(disjunction(compare(FIRST, "lt", 5), compare(FIRST, "gt", 6))), (5, 6)),
        (Binary("eq", Binary("add", get(FIRST), Const(2)), Const(6)), (4,)),
        (Binary("gt", Const(2), Binary("sub", get(FIRST), Const(1))), (0, 1, 2)),
        (negate(get(FIRST)), (0,)),
        (conjunction(get(FIRST), compare(FIRST, "ne", 20)), range(1, 20)),
    ]:
        inference = infer_ranges(program(pick, edge(4, 0, put(SECOND, get(FIRST)), guard=guard)))
        assert inference.cells[SECOND] == ValueSet.of(0, *expected)


def test_checks_narrow_down_what_follows() -> None:
    check = Check(compare(FIRST, "lt", 3), Fault.ASSERT, "small")
    inference = infer_ranges(
        program(
            edge(3, 4, put(FIRST, Choice()), choices=10), edge(4, 0, check, put(SECOND, get(FIRST)))
        )
    )
    assert ends(inference, SECOND) == (0, 2)
    assert ends(inference, FIRST) == (0, 9)


def test_shared_cells_are_known_only_within_a_step() -> None:
    edges = (
        edge(3, 4, guard=compare(SHARED, "lt", 5)),
        edge(4, 3, step(SHARED, 1)),
    )
    assert ends(infer_ranges(program(*edges, atomic=(4,))), SHARED) == (0, 5)
    with pytest.raises(UnboundedError):
        infer_ranges(program(*edges))


def test_elements_are_stored_to_one_at_a_time() -> None:
    cells = (cell("i"), *(cell(f"a{n}", None, n) for n in range(3)))
    store = Assign(Element(Const(3), get(FIRST), 3, 1), Const(9))
    inference = infer_ranges(
        program(edge(3, 4, put(FIRST, Choice()), choices=2), edge(4, 0, store), cells=cells)
    )
    assert [inference.cells[a].points for a in (3, 4, 5)] == [(0, 9), (1, 9), (2,)]


def test_a_store_to_one_of_two_locals_leaves_both_open() -> None:
    store = Assign(Element(Const(FIRST), Choice(), 2, 1), Const(9))
    inference = infer_ranges(
        program(edge(3, 4, store, choices=2), edge(4, 0, put(SHARED, get(FIRST))))
    )
    assert inference.cells[SHARED].points == (0, 9)


def test_a_local_that_another_thread_writes_is_never_certain() -> None:
    cells = (
        Cell("null", 0, 0),
        *(Cell(f"pc{t}", 0, 9, 3, t, Role.COUNTER) for t in range(2)),
        Cell("worker.n", 0, 0, 0, 1, inferred=True),
        Cell("result", 0, 0, 0, inferred=True),
    )
    places = (Location(),) * 5
    meddler = Thread("meddler", 1, 3, places, (edge(3, 0, put(3, Const(5))),))
    worker = Thread(
        "worker", 2, 3, places, (edge(3, 4, put(3, Const(1))), edge(4, 0, put(4, get(3))))
    )
    for threads in ((meddler, worker), (replace(worker, counter=1), replace(meddler, counter=2))):
        owner = threads.index(worker) if worker in threads else 0
        owned = tuple(replace(c, owner=owner) if c.name == "worker.n" else c for c in cells)
        inference = infer_ranges(Program("p", owned, threads))
        assert inference.cells[4].points == (0, 1, 5)
        assert all(3 not in known for known in inference.at[owner].values())


def test_created_threads_and_their_parameters() -> None:
    cells = (
        Cell("null", 0, 0),
        Cell("main.pc", 0, 9, 3, 0, Role.COUNTER),
        Cell("worker.pc", 0, 9, IDLE, 1, Role.COUNTER),
        Cell("worker.n", 0, 0, 0, 1, inferred=True),
        Cell("worker.sum", 0, 0, 0, 1, inferred=True),
        Cell("result", 0, 0, 0, inferred=True),
    )
    places = (Location(),) * 5
    main = Thread(
        "main", 1, 3, places,
        (
            edge(3, 4, put(3, Const(5)), put(2, Const(3))),
            edge(4, 0, put(5, Const(1)), guard=Binary("eq", get(2), Const(FINISHED))),
        ),
    )  # fmt: skip
    worker = Thread("worker", 2, 3, places, (edge(3, 4, put(4, get(3))), edge(4, 0)), active=False)
    inference = infer_ranges(Program("p", cells, (main, worker)))
    assert inference.cells[3].points == inference.cells[4].points == (0, 5)
    assert inference.program.cells[2].points == (FINISHED, WRONG, IDLE, 3, 4)
    assert inference.cells[5].points == (0, 1)


def test_a_thread_that_nobody_creates_is_not_reached() -> None:
    cells = (Cell("null", 0, 0), Cell("pc", 0, 9, IDLE, 0, Role.COUNTER), cell("x", None))
    thread = Thread("t", 1, 3, (Location(),) * 4, (edge(3, 3, step(2, 1)),), active=False)
    inference = infer_ranges(Program("p", cells, (thread,)))
    assert 3 not in inference.at[0]
    assert ends(inference, 2) == (0, 0)
