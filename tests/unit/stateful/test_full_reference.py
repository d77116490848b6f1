"""Deadlocks and races as docs/semantics.md defines them, in the reference search and the others."""

from __future__ import annotations

import pytest
from searching import ORDERS, kind_found
from tests.unit.ir.programs import (
    Builder,
    crossed_locks,
    equals,
    load,
    lost_update,
    modular_counters,
    put,
)

from mazurka.ir.expressions import Const, Element, Expr
from mazurka.ir.program import FINISHED, Assign, Check, Edge, Fault, Kind, Mode, Program, Role, Span
from mazurka.search import Move
from mazurka.stateful.reference.full import explore

ENGINES = ("reference", *ORDERS)
X = 1


def waiting(*others: str) -> Program:
    """A thread that waits for x, which nobody sets, beside threads of the given sorts."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    body.edge(body.at(), FINISHED, kind=Kind.AWAIT, guard=equals(x, 1))
    for sort in others:
        other = builder.thread(observer=sort.startswith("observer"), active=sort != "idle")
        here = other.at()
        match sort:
            case "observer waits" | "waits":
                other.edge(here, FINISHED, kind=Kind.AWAIT, guard=equals(x, 1))
            case "observer moves" | "moves":
                other.edge(here, here, kind=Kind.YIELD)
            case "stopped" | "observer stopped":
                other.edge(here, FINISHED, kind=Kind.ASSUME, guard=equals(x, 1))
            case "stopped helper":
                following = other.at()
                other.edge(here, following, kind=Kind.ASSUME, guard=equals(x, 1))
                other.edge(following, FINISHED, put(x, 1))
            case "fails":
                other.edge(here, FINISHED, Check(Const(0), Fault.ASSERT, "always"))
            case "ends" | "idle":
                other.edge(here, FINISHED, kind=Kind.YIELD)
    return builder.program()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("others", "deadlock"),
    [
        ((), True),
        (("waits",), True),
        (("ends",), True),
        (("idle",), True),  # never created: it cannot help
        (("moves",), False),
        (("stopped",), True),  # whatever it would do, it would not help
        (("stopped helper",), False),  # the assumption cuts off the branch in which it helps
        (("fails",), False),  # so does a fault, once it has happened
        (("observer waits",), True),
        (("observer moves",), True),  # an observer's moves do not count
        (("observer stopped",), True),
    ],
)
def test_deadlock(engine: str, others: tuple[str, ...], deadlock: bool) -> None:
    assert kind_found(waiting(*others), engine, "deadlock") == ("deadlock" if deadlock else None)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_observer_alone_never_deadlocks(engine: str) -> None:
    builder = Builder()
    x = builder.shared("x", 0, 1)
    observer = builder.thread(observer=True)
    observer.edge(observer.at(), FINISHED, kind=Kind.AWAIT, guard=equals(x, 1))
    builder.thread().line(put(x, 0))
    assert kind_found(builder.program(), engine, "deadlock") is None


def pair(first: tuple[Assign | Check, Kind], second: tuple[Assign | Check, Kind]) -> Program:
    """Two threads of one step; cells: 1 and 2 data, 3 a lock, 4 another synchronization cell."""
    builder = Builder()
    builder.shared("x", 0, 9)
    builder.shared("y", 0, 9)
    builder.lock()
    builder.shared("s", 0, 9, role=Role.SYNC)
    for operation, kind in (first, second):
        body = builder.thread()
        body.edge(body.at(), FINISHED, operation, kind=kind)
    return builder.program()


PLAIN, RMW = Kind.ACCESS, Kind.ATOMIC
WRITE, READ = put(X, 1), put(2, load(X))
LOOK: Expr = Element(Const(1), Const(1), 2, 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("first", "second", "race"),
    [
        ((WRITE, PLAIN), (WRITE, PLAIN), True),
        ((WRITE, PLAIN), (Check(load(X), Fault.BOUND, ""), PLAIN), True),  # a write and a read
        ((Check(Const(1), Fault.ASSERT, ""), PLAIN), (WRITE, PLAIN), False),  # nothing is shared
        ((put(2, load(X)), PLAIN), (put(3, load(X)), PLAIN), False),  # two reads
        ((WRITE, PLAIN), (put(2, 1), PLAIN), False),  # different cells
        ((WRITE, PLAIN), (Assign(LOOK, Const(1)), PLAIN), False),  # element 1 is cell 2
        ((WRITE, RMW), (WRITE, RMW), False),  # both indivisible
        ((WRITE, RMW), (WRITE, PLAIN), True),
        ((WRITE, PLAIN), (READ, RMW), True),
        ((WRITE, Kind.ACQUIRE), (WRITE, Kind.NOTIFY), False),  # synchronization is indivisible
        ((put(3, 1), PLAIN), (put(3, 2), PLAIN), False),  # a lock cannot race
        ((put(4, 1), PLAIN), (put(4, 2), PLAIN), False),  # nor can other parts of such objects
    ],
)
def test_race(
    engine: str, first: tuple[Assign, Kind], second: tuple[Assign, Kind], race: bool
) -> None:
    assert kind_found(pair(first, second), engine, "race") == ("race" if race else None)


@pytest.mark.parametrize("engine", ENGINES)
def test_only_steps_that_can_both_be_taken_race(engine: str) -> None:
    """The second writes x only when the first has: never at once."""
    builder = Builder()
    x, flag = builder.shared("x", 0, 9), builder.shared("flag", 0, 1, role=Role.SYNC)
    first, second = builder.thread(), builder.thread()
    first.line(put(x, 1), put(flag, 1))
    second.edge(second.at(), FINISHED, put(x, 2), guard=equals(flag, 1))
    assert kind_found(builder.program(), engine, "race") is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("atomic", "race"), [(True, False), (False, True)])
def test_a_step_is_atomic_if_its_first_edge_is(engine: str, atomic: bool, race: bool) -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    for _ in range(2):
        body = builder.thread()
        start, inside = body.at(), body.at(Mode.ATOMIC)
        body.edge(start, inside, kind=Kind.LOCAL, atomic=atomic)
        body.edge(inside, FINISHED, put(x, 1))
    assert kind_found(builder.program(), engine, "race") == ("race" if race else None)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_that_fails_can_race(engine: str) -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    for _ in range(2):
        body = builder.thread()
        body.edge(body.at(), FINISHED, put(x, 1), Check(Const(0), Fault.ASSERT, ""))
    assert kind_found(builder.program(), engine, "race") == "race"


def test_counts_of_the_lost_update() -> None:
    """Each thread is at its read, its write or the end; copy and x follow from the order.

    Neither read yet: 1.  One has read: 2.  Both have read 0: 1.  One is done, the other has not
    begun: 2.  One is done, the other has read, before (0) or after (1) the write: 2 * 2.  Both
    done with x = 1 (both read 0): 1; with x = 2 the copies are (0, 1) or (1, 0): 2.
    """
    found = explore(lost_update())
    assert len(found.states) == 1 + 2 + 1 + 2 + 4 + 1 + 2
    assert found.kinds == {"race"}


def test_the_deadlock_of_crossed_locks() -> None:
    """Both hold their first lock; each got there in one step, in either order."""
    found = explore(crossed_locks())
    assert (len(found.states), found.transitions) == (13, 14)  # derived beside the program
    (state,) = found.deadlocks
    assert state[1:3] == (1, 2)
    assert sorted(found.path_to(state), key=lambda move: move.thread) == [Move(0), Move(1)]
    assert found.path_to(crossed_locks().initial_state()) == []


def test_a_limited_search_says_that_it_is_not_complete() -> None:
    program = modular_counters(2, 10)  # 100 states
    assert explore(program, limit=100).complete
    cut = explore(program, limit=99)
    assert not cut.complete
    assert len(cut.states) == 99


def test_there_is_nothing_behind_livelock_and_bound() -> None:
    for fault, states in ((Fault.ASSERT, 2), (Fault.LIVELOCK, 1), (Fault.BOUND, 1)):
        builder = Builder()
        body = builder.thread()
        body.edge(body.at(), FINISHED, Check(Const(0), fault, ""))
        found = explore(builder.program())
        assert (len(found.states), found.transitions) == (states, 1)


def test_indivisible_edges() -> None:
    span = Span("hand.py", 1)
    assert Edge(3, 0, Kind.ACCESS, span, atomic=True).indivisible
    assert not Edge(3, 0, Kind.ACCESS, span).indivisible
    assert Edge(3, 0, Kind.RELEASE, span).indivisible
