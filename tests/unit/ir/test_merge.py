"""Which locations become part of the step before, and which must stay states of their own."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, equals, load, plus, put

from mazurka.ir.expressions import Choice
from mazurka.ir.passes.merge import merge_local_steps
from mazurka.ir.passes.validate import validate
from mazurka.ir.program import FINISHED, Check, Edge, Fault, Kind, Mode, Program
from mazurka.stateful.reference.full import explore

X, LOCAL = 1, 3
"""Every thread below is the only one: cell 1 is shared, 2 its counter, 3 its local."""


def after_a_write(*edges: Edge, extra: tuple[Mode, ...] = ()) -> Program:
    """A visible write to x from location 3 to location 4, and the given edges from there on."""
    builder = Builder()
    x = builder.shared("x", 0, 3)
    body = builder.thread()
    body.local("local", 0, 3)
    start, following = body.at(), body.at()
    for mode in extra:
        body.at(mode)
    body.edge(start, following, put(x, 1))
    body.edges += edges
    return builder.program()


def step(source: int, target: int, *operations: object, **options: object) -> Edge:
    builder = Builder()
    body = builder.thread()
    body.edge(source, target, *operations, **{"kind": Kind.LOCAL, **options})  # type: ignore[arg-type]
    return body.edges[0]


def modes(program: Program) -> list[Mode]:
    merged = merge_local_steps(program)
    validate(merged)
    return [location.mode for location in merged.threads[0].locations[3:]]


VISIBLE, MERGED, ATOMIC = Mode.VISIBLE, Mode.MERGED, Mode.ATOMIC


@pytest.mark.parametrize(
    ("edge", "mode"),
    [
        (step(4, 0, put(LOCAL, 1)), MERGED),
        (step(4, 0, Check(load(LOCAL), Fault.ASSERT, ""), kind=Kind.ASSERT), MERGED),
        (step(4, 0, kind=Kind.ASSUME, guard=equals(LOCAL, 1)), MERGED),
        (step(4, 0, put(X, 1), kind=Kind.ACCESS), VISIBLE),
        (step(4, 0, put(LOCAL, load(X))), VISIBLE),  # shared, whatever the edge calls itself
        (step(4, 0, kind=Kind.ASSUME, guard=equals(X, 1)), VISIBLE),
        (step(4, 0, put(LOCAL, Choice()), kind=Kind.CHOOSE, choices=2), VISIBLE),
        (step(4, 0, kind=Kind.YIELD), VISIBLE),
    ],
)
def test_local_deterministic_steps_are_merged(edge: Edge, mode: Mode) -> None:
    assert modes(after_a_write(edge)) == [VISIBLE, mode]


def test_one_shared_edge_keeps_the_whole_location_visible() -> None:
    guard = equals(LOCAL, 0)
    local = step(4, 0, guard=guard)
    shared = step(4, 0, put(X, 2), kind=Kind.ACCESS, guard=equals(LOCAL, 1))
    assert modes(after_a_write(local, shared)) == [VISIBLE, VISIBLE]


def test_a_location_that_enters_an_atomic_section_stays_visible() -> None:
    enter = step(4, 5, atomic=True)
    leave = step(5, 0, put(X, 2), atomic=True)
    assert modes(after_a_write(enter, leave, extra=(ATOMIC,))) == [VISIBLE, VISIBLE, ATOMIC]


def test_a_local_loop_keeps_one_visible_location() -> None:
    around = (step(4, 5), step(5, 6), step(6, 4))
    found = modes(after_a_write(*around, extra=(VISIBLE, VISIBLE)))
    assert sorted(found[1:]) == sorted([VISIBLE, MERGED, MERGED])
    alone = step(4, 4)
    assert modes(after_a_write(alone)) == [VISIBLE, VISIBLE]


def test_every_loop_of_several_keeps_a_visible_location() -> None:
    """Two loops through location 4: 4 5 4 and 4 6 4; `validate` refuses a merged cycle."""
    first, second = equals(LOCAL, 0), equals(LOCAL, 1)
    edges = (step(4, 5, guard=first), step(5, 4), step(4, 6, guard=second), step(6, 4))
    found = modes(after_a_write(*edges, extra=(VISIBLE, VISIBLE)))
    assert VISIBLE in found[1:]
    assert MERGED in found[1:]


def test_local_steps_at_the_beginning_are_part_of_the_initial_state() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    local = body.local("local", 0, 9)
    places = [body.at() for _ in range(3)]
    body.edge(places[0], places[1], put(local, 4), kind=Kind.LOCAL)
    body.edge(places[1], places[2], put(local, plus(local, 1)), kind=Kind.LOCAL)
    body.edge(places[2], FINISHED, put(x, load(local)))
    raw = builder.program()
    merged = merge_local_steps(raw)
    assert merged.initial_state() == (0, 0, places[2], 5)
    # Raw: three locations and the end.  Merged: before and after the write.
    assert (len(explore(raw).states), len(explore(merged).states)) == (4, 2)


@pytest.mark.parametrize(
    ("edge", "kinds"),
    [
        (step(3, 0, Check(load(2), Fault.ASSERT, "never"), kind=Kind.ASSERT), {"assert"}),
        (step(3, 0, kind=Kind.ASSUME, guard=equals(2, 1)), set()),
    ],
)
def test_a_beginning_that_fails_or_stops_stays_visible(edge: Edge, kinds: set[str]) -> None:
    builder = Builder()
    body = builder.thread()
    body.local("local", 0, 1)
    body.at()
    body.edges.append(edge)
    merged = merge_local_steps(builder.program())
    assert merged.initial_state() == (0, 3, 0)
    assert merged.threads[0].locations[3].mode is VISIBLE
    assert explore(merged).kinds == kinds


def test_the_entry_of_a_created_thread_stays_visible() -> None:
    builder = Builder()
    creator, created = builder.thread(), builder.thread(active=False)
    local = created.local("local", 0, 1)
    creator.line(put(created.counter, 3), kind=Kind.CREATE)
    created.line(put(local, 1), put(local, 0), kind=Kind.LOCAL)
    merged = merge_local_steps(builder.program())
    assert [place.mode for place in merged.threads[1].locations[3:]] == [VISIBLE, MERGED]
    assert merged.initial_state()[created.counter] == 2


def test_merging_keeps_violations_and_makes_fewer_states() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    for _ in range(2):
        body = builder.thread()
        local = body.local("local", 0, 9)
        reading, adding, writing = (body.at() for _ in range(3))
        body.edge(reading, adding, put(local, load(x)))
        body.edge(adding, writing, put(local, plus(local, 1)), kind=Kind.LOCAL)
        body.edge(writing, FINISHED, put(x, load(local)))
    watcher = builder.thread()
    watcher.line(Check(equals(x, 1), Fault.ASSERT, "x is 1"), kind=Kind.ASSERT)
    raw = builder.program()
    merged = merge_local_steps(raw)
    before, after = explore(raw), explore(merged)
    assert before.kinds == after.kinds == {"assert", "race"}
    assert len(after.states) < len(before.states)
