"""Counts, schedules and deep stacks; both orders where they must agree."""

from __future__ import annotations

import pytest
from searching import ORDERS, search, shows
from tests.unit.ir.programs import (
    Builder,
    crossed_locks,
    equals,
    load,
    lost_update,
    modular_counters,
    plus,
    put,
)

from mazurka.ir.expressions import Binary, Choice, Const
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Mode, Program
from mazurka.search import Move
from mazurka.stateful.reference.full import explore


def choosers(section: bool) -> Program:
    """Two threads that each choose one of 3 and then one of 2, in one step or in two.

    In one step a thread has 1 + 3 * 2 situations, in two steps 1 + 3 + 3 * 2; they are
    independent, so the states are the square.
    """
    builder = Builder()
    for name in "ab":
        first = builder.shared(f"{name}3", 0, 2)
        second = builder.shared(f"{name}2", 0, 1)
        body = builder.thread()
        start, inside = body.at(), body.at(Mode.ATOMIC if section else Mode.VISIBLE)
        body.edge(start, inside, put(first, Choice()), kind=Kind.CHOOSE, choices=3, atomic=True)
        body.edge(inside, FINISHED, put(second, Choice()), kind=Kind.CHOOSE, choices=2, atomic=True)
    return builder.program()


def guessing(secret: int, *, first_padding: int = 0) -> Program:
    """One thread chooses x from 0..4, another fails if it is the secret.

    Padding: further cells of 60 bits, so that a state takes many words.
    """
    builder = Builder()
    x = builder.shared("x", -1, 4, -1)
    for number in range(first_padding):
        cell = builder.shared(f"pad{number}", 0, 2**60 - 1)
        pad = builder.thread()
        pad.edge(pad.at(), FINISHED, put(cell, 1))
    body = builder.thread()
    body.edge(body.at(), FINISHED, put(x, Choice()), kind=Kind.CHOOSE, choices=5)
    watcher = builder.thread()
    wrong = Check(Binary("ne", load(x), Const(secret)), Fault.ASSERT, "guessed")
    watcher.edge(watcher.at(), FINISHED, wrong, kind=Kind.ASSERT)
    return builder.program()


def long_count(length: int, *, wide: bool = False) -> Program:
    """One thread counts to `length`, then fails: `length` moves and the one that fails."""
    builder = Builder()
    high = 2**63 - 1 if wide else length
    i = builder.shared("i", 0, high)
    if wide:
        builder.shared("wide", -(2**63), 2**63 - 1)
    body = builder.thread()
    here = body.at()
    below, there = Binary("lt", load(i), Const(length)), equals(i, length)
    body.edge(here, here, put(i, plus(i, 1)), guard=below)
    body.edge(here, FINISHED, Check(Const(0), Fault.ASSERT, "there"), guard=there)
    return builder.program()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("threads", "modulus"), [(1, 1), (1, 7), (2, 5), (4, 3), (7, 2)])
def test_counters(order: str, wide: bool, threads: int, modulus: int) -> None:
    """`modulus ** threads` states; each thread can move in each of them."""
    result = search(modular_counters(threads, modulus, wide=wide), order, "assert", "deadlock")
    assert result.statistics.states == modulus**threads
    assert result.statistics.transitions == threads * modulus**threads
    assert (result.violation, result.limits) == (None, ())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("section", "situations"), [(True, 1 + 3 * 2), (False, 1 + 3 + 3 * 2)])
def test_choices_inside_atomic_sections(order: str, section: bool, situations: int) -> None:
    program = choosers(section)
    result = search(program, order)
    assert result.statistics.states == situations**2
    # In one step: 6 moves from the start of each thread, none afterwards, beside 7 situations of
    # the other.  In two steps: 3 from the start and 2 from each of 3, beside 10 situations.
    moves = 6 if section else 3 + 3 * 2
    assert result.statistics.transitions == 2 * moves * situations
    assert result.limits == ()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", [lost_update(), crossed_locks(), choosers(True)])
def test_the_whole_space_is_that_of_the_reference(order: str, program: Program) -> None:
    whole = search(program, order, whole=True)
    reference = explore(program)
    assert whole.statistics.states == len(reference.states)
    assert whole.statistics.transitions == reference.transitions
    assert (whole.violation is not None) == bool(reference.kinds)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("first_padding", [0, 3])
@pytest.mark.parametrize("secret", range(5))
def test_schedules_name_the_choice(order: str, first_padding: int, secret: int) -> None:
    program = guessing(secret, first_padding=first_padding)
    result = search(program, order, "assert")
    assert result.violation is not None
    assert shows(program, result.violation)
    assert Move(first_padding, secret) in result.violation.path
    assert result.violation.path[-1] == Move(first_padding + 1)


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_never_chosen_is_never_found(order: str) -> None:
    result = search(guessing(5), order, "assert")
    assert (result.violation, result.limits) == (None, ())


@pytest.mark.parametrize("order", ORDERS)
def test_deadlocks_and_races_are_found_and_replay(order: str) -> None:
    for program, kind in ((crossed_locks(), "deadlock"), (lost_update(), "race")):
        violation = search(program, order, kind).violation
        assert violation is not None
        assert violation.kind == kind
        assert shows(program, violation)
        assert (violation.racing is not None) == (kind == "race")


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_not_asked_for_is_not_found(order: str) -> None:
    assert search(crossed_locks(), order, "assert", "race").violation is None
    assert search(lost_update(), order, "assert", "deadlock").violation is None
    assert search(guessing(3), order, "deadlock").violation is None
    assert search(guessing(3), order, "assert").violation is not None


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wide", [False, True])
def test_a_deep_stack(order: str, wide: bool) -> None:
    """`length` + 1 counts, and the failed state behind the last."""
    length = 30_000
    program = long_count(length, wide=wide)
    result = search(program, order, "assert", whole=True)
    assert result.statistics.states == length + 2
    assert result.statistics.depth >= length
    violation = search(program, order, "assert").violation
    assert violation is not None
    assert len(violation.path) == length + 1
    assert shows(program, violation)


def test_depth_is_the_height_of_the_stack() -> None:
    """A line of 11 states: all of them lie on the stack at once."""
    assert search(modular_counters(1, 11), "dfs").statistics.depth == 11


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("both_atomic", "kind"), [(True, None), (False, "race")])
def test_footprints_longer_than_the_room_provided(
    order: str, both_atomic: bool, kind: str | None
) -> None:
    """An atomic section that reads and writes its cell 6,000 times, beside one plain access."""
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    i = body.local("i", 0, 6_000)
    start, inside = body.at(), body.at(Mode.ATOMIC)
    below, there = Binary("lt", load(i), Const(6_000)), equals(i, 6_000)
    body.edge(start, inside, kind=Kind.LOCAL, atomic=True)
    again = put(x, Binary("xor", load(x), Const(1)))
    body.edge(inside, inside, again, put(i, plus(i, 1)), guard=below, atomic=True)
    body.edge(inside, FINISHED, kind=Kind.LOCAL, guard=there, atomic=True)
    other = builder.thread()
    other.edge(other.at(), FINISHED, put(x, 5), atomic=both_atomic)
    result = search(builder.program(), order, "race")
    assert result.limits == ()
    assert (result.violation.kind if result.violation else None) == kind
