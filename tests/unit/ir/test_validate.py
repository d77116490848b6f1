"""Every rule of the representation has a complaint of its own; well-formed programs pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.ir.programs import Body, Builder, crossed_locks, load, lost_update, put

from mazurka.ir.expressions import Binary, Choice, Const, Convert, Element, Expr, Unary
from mazurka.ir.passes.validate import MalformedProgramError, validate
from mazurka.ir.program import (
    FINISHED,
    IDLE,
    Assign,
    Cell,
    Edge,
    Kind,
    Location,
    Mode,
    Program,
    Thread,
)


def good() -> Program:
    """Cells: 1 shared, 2 the counter, 3 a local.  Locations: 3, then 4 (atomic), then the end."""
    builder = Builder()
    x = builder.shared("x", 0, 3)
    body = builder.thread()
    local = body.local("local", 0, 3)
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, put(local, Choice()), kind=Kind.CHOOSE, choices=2)
    body.edge(inside, FINISHED, put(x, load(local)), atomic=True)
    return builder.program()


def with_cell(address: int, **changes: Any) -> Program:
    program = good()
    cells = list(program.cells)
    cells[address] = replace(cells[address], **changes)
    return replace(program, cells=tuple(cells))


def with_thread(**changes: Any) -> Program:
    program = good()
    return replace(program, threads=(replace(program.threads[0], **changes),))


def with_edge(position: int = 0, **changes: Any) -> Program:
    thread = good().threads[0]
    edges = list(thread.edges)
    edges[position] = replace(edges[position], **changes)
    return with_thread(edges=tuple(edges))


def with_location(number: int, location: Location) -> Program:
    places = list(good().threads[0].locations)
    places[number] = location
    return with_thread(locations=tuple(places))


def creating(address: Expr, location: int, kind: Kind = Kind.CREATE) -> Program:
    """Cell 1 is the counter of the thread that creates another, cell 2 that of the other."""
    builder = Builder()
    builder.thread().line(Assign(address, Const(location)), kind=kind)
    builder.thread(active=False).line(put(0, 1))
    return builder.program()


MALFORMED: list[tuple[Callable[[], Program], str]] = [
    (lambda: with_cell(0, high=1), "cell 0 must be the null cell"),
    (lambda: with_cell(1, initial=4), "does not contain its initial value 4"),
    (lambda: with_cell(1, low=2, initial=1), "does not contain its initial value 1"),
    (lambda: with_cell(1, high=2**63), "0..9223372036854775808"),
    (lambda: with_cell(1, owner=1), "belongs to no thread"),
    (lambda: replace(good(), threads=(), cells=(Cell("null", 0, 0),)), "has no threads"),
    (lambda: with_thread(counter=99), "its program counter is no cell"),
    (lambda: with_thread(counter=1), "not a counter of its own"),
    (lambda: with_thread(entry=IDLE), "entry 2 is no location"),
    (lambda: with_thread(entry=5), "entry 5 is no location"),
    (lambda: with_cell(2, initial=9, high=9), "starts at 9, which is no location"),
    (lambda: with_thread(active=False), "must start idle"),
    (lambda: with_location(1, Location(Mode.MERGED)), "reserved location 1 must be visible"),
    (lambda: with_edge(source=1), "an edge leaves location 1"),
    (lambda: with_edge(source=5), "an edge leaves location 5"),
    (lambda: with_edge(target=IDLE), "an edge leads to location 2"),
    (lambda: with_edge(target=5), "an edge leads to location 5"),
    (lambda: with_edge(choices=0), "an edge has 0 choices"),
    (lambda: with_edge(kind=Kind.ACCESS), "nondeterminism on an edge of kind access"),
    (lambda: with_edge(guard=Const(2**63)), "needs more than 64 bits"),
    (lambda: with_edge(guard=Unary("plus", Const(1))), "no unary operator 'plus'"),
    (lambda: with_edge(guard=Binary("pow", Const(1), Const(1))), "no binary operator 'pow'"),
    (lambda: with_edge(guard=Element(Const(1), Const(0), 0, 1)), "an array has length 0"),
    (lambda: with_edge(guard=Convert(Const(1), 65, True)), "a conversion is 65 bits wide"),
    (lambda: with_edge(guard=Convert(Const(1), 0, True)), "a conversion is 0 bits wide"),
    (lambda: with_location(3, Location(resets=(1,))), "cell 1 is reset but is not its own"),
    (lambda: with_location(3, Location(resets=(99,))), "cell 99 is reset"),
    (lambda: with_location(3, Location(resets=(2,))), "program counter cannot be reset"),
    (lambda: with_location(3, Location(Mode.MERGED)), "an edge that is not local"),
    (lambda: with_edge(choices=2**63 + 1), "an edge has 9223372036854775809 choices"),
    (lambda: with_location(3, Location(resets=(3, 3))), "a location resets a cell twice"),
    (lambda: creating(Const(2), 3, Kind.LOCAL), "of kind local sets the program counter of"),
    (lambda: creating(Const(1), 3), "of kind create sets the program counter of thread t0"),
    (lambda: creating(Element(Const(0), Const(2), 3, 1), 3, Kind.ACCESS), "of kind access sets"),
    (lambda: creating(Const(2), 4), "a location that does not exist is set as that of thread t1"),
    (lambda: creating(Const(2), IDLE), "a location that does not exist is set"),
]


@pytest.mark.parametrize(("make", "complaint"), MALFORMED, ids=[text for _, text in MALFORMED])
def test_malformed(make: Callable[[], Program], complaint: str) -> None:
    with pytest.raises(MalformedProgramError) as caught:
        validate(make())
    assert complaint in str(caught.value)


@pytest.mark.parametrize("make", [good, lost_update, crossed_locks])
def test_well_formed(make: Callable[[], Program]) -> None:
    validate(make())


@pytest.mark.parametrize(
    "program",
    [
        with_cell(1, low=-(2**63), high=2**63 - 1),
        with_cell(1, inferred=True, low=0, high=0, initial=7),  # filled in later
        with_edge(guard=Convert(Const(1), 64, True)),
        with_edge(guard=Const(-(2**63))),
        with_location(3, Location(resets=(3,))),
        with_edge(1, kind=Kind.CHOOSE, choices=2),  # in a section that does not loop
        with_edge(0, target=3),  # a choice in a loop, but each time in a step of its own
        creating(Const(2), 3),
    ],
)
def test_just_within_the_rules(program: Program) -> None:
    validate(program)


def test_complaints_about_edges_name_thread_file_and_line() -> None:
    with pytest.raises(MalformedProgramError, match=r"^hand\.py:2: thread t0: an edge leads"):
        validate(with_edge(1, target=IDLE))


def merged_thread(*pairs: tuple[int, int], targets: Mode = Mode.MERGED) -> Program:
    builder = Builder()
    body = builder.thread()
    body.at()
    for _ in range(3):
        body.at(targets)
    body.edge(3, 4, kind=Kind.LOCAL)
    for source, target in pairs:
        body.edge(source, target, kind=Kind.LOCAL)
    return builder.program()


def test_merged_locations_must_not_form_a_cycle() -> None:
    validate(merged_thread((4, 5), (5, 6), (6, FINISHED)))
    validate(merged_thread((4, 5), (5, 6), (6, 3)))  # through the visible location 3
    with pytest.raises(MalformedProgramError, match="merged locations form a cycle"):
        validate(merged_thread((4, 5), (5, 6), (6, 5)))
    with pytest.raises(MalformedProgramError, match="merged locations form a cycle"):
        validate(merged_thread((4, 4)))


def test_an_atomic_section_must_not_begin_at_a_merged_location() -> None:
    builder = Builder()
    body = builder.thread()
    start, merged, inside = body.at(), body.at(Mode.MERGED), body.at(Mode.ATOMIC)
    body.edge(start, merged, kind=Kind.LOCAL)
    body.edge(merged, inside, kind=Kind.LOCAL)
    body.edge(inside, FINISHED, kind=Kind.LOCAL)
    with pytest.raises(MalformedProgramError, match="begins at a merged location"):
        validate(builder.program())


@pytest.mark.parametrize(
    ("pairs", "inside", "cyclic"),
    [
        ([(3, 4), (4, 5)], {3, 4, 5}, False),
        ([(3, 4), (4, 3)], {3, 4}, True),
        ([(3, 4), (4, 3)], {3}, False),
        ([(3, 3)], {3}, True),
        ([(3, 4), (3, 4), (4, 5)], {3, 4, 5}, False),  # two edges between the same locations
        ([(3, 4), (4, 5), (5, 4)], {3, 4, 5}, True),
    ],
)
def test_loop_heads(pairs: list[tuple[int, int]], inside: set[int], cyclic: bool) -> None:
    body = Body(Builder(), 0, 1)
    for _ in range(3):
        body.at()
    for source, target in pairs:
        body.edge(source, target)
    edges: tuple[Edge, ...] = tuple(body.edges)
    thread = Thread("t", 1, 3, tuple(body.locations), edges)
    assert bool(thread.loop_heads(inside)) == cyclic
