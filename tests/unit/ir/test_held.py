"""Checks of lock ownership are dropped where they cannot fail, and only there."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Body, Builder, equals, load, put

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Element, Expr
from mazurka.ir.passes.held import Ownership, conjuncts, drop_proven_lock_checks
from mazurka.ir.program import FINISHED, Assign, Check, Fault, Kind, Program
from mazurka.stateful.reference.full import explore

LOCK = 1


def held_by(thread: int) -> Check:
    return Check(equals(LOCK, thread + 1), Fault.LOCK, "not held")


def release(body: Body, source: int, target: int) -> None:
    body.edge(source, target, held_by(body.number), put(LOCK, 0), kind=Kind.RELEASE)


def checks_left(program: Program) -> int:
    changed = drop_proven_lock_checks(program)
    assert explore(changed).kinds == explore(program).kinds
    return sum(
        isinstance(operation, Check) for edge in changed.edges for operation in edge.operations
    )


def with_lock(builder: Builder) -> Body:
    """Takes the lock and gives it back: locations 3, 4, end."""
    body = builder.thread()
    start, inside = body.at(), body.at()
    body.acquire(start, inside, LOCK)
    release(body, inside, FINISHED)
    return body


def test_a_check_behind_an_acquisition_is_dropped() -> None:
    builder = Builder()
    builder.lock()
    with_lock(builder)
    with_lock(builder)
    assert checks_left(builder.program()) == 0


def test_a_check_that_a_path_without_the_lock_reaches_stays() -> None:
    builder = Builder()
    builder.lock()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    start, take, inside = body.at(), body.at(), body.at()
    body.edge(start, take, guard=equals(x, 1))
    body.edge(start, inside, guard=equals(x, 0))
    body.acquire(take, inside, LOCK)
    release(body, inside, FINISHED)
    program = builder.program()
    assert checks_left(program) == 1
    assert explore(program).kinds == {"lock"}


def test_the_second_of_two_releases_is_checked() -> None:
    builder = Builder()
    builder.lock()
    body = builder.thread()
    start, inside, after = body.at(), body.at(), body.at()
    body.acquire(start, inside, LOCK)
    release(body, inside, after)
    release(body, after, FINISHED)
    assert checks_left(builder.program()) == 1


@pytest.mark.parametrize(
    ("guard", "left"),
    [
        (None, 1),  # whoever holds it: the lock is not disciplined
        (equals(LOCK, 1), 1),  # known to be another's
        (equals(LOCK, 0), 0),  # free
        (equals(LOCK, 2), 0),  # its own
    ],
)
def test_a_thread_that_breaks_locks_open_keeps_all_checks(guard: Expr | None, left: int) -> None:
    builder = Builder()
    builder.lock()
    with_lock(builder)
    other = builder.thread()
    other.edge(other.at(), FINISHED, put(LOCK, 0), kind=Kind.RELEASE, guard=guard)
    assert checks_left(builder.program()) == left


def test_a_write_through_a_computed_address_makes_every_lock_it_may_hit_undisciplined() -> None:
    def left(length: int) -> int:
        builder = Builder()
        builder.lock()
        builder.shared("x", 0, 1)
        index = builder.shared("i", 0, length - 1)
        with_lock(builder)
        other = builder.thread()
        base = 1 if length == 2 else 2
        target = Element(Const(base), load(index), length, 1)
        other.edge(other.at(), FINISHED, Assign(target, Const(0)), kind=Kind.ATOMIC)
        return checks_left(builder.program())

    assert left(2) == 1  # cells 1 and 2: the lock is one of them
    assert left(1) == 0  # cell 2 alone


def test_only_checks_of_ownership_are_dropped() -> None:
    builder = Builder()
    builder.lock()
    body = builder.thread()
    start, inside = body.at(), body.at()
    body.acquire(start, inside, LOCK)
    wrong_owner = Check(equals(LOCK, 2), Fault.LOCK, "")
    body.edge(inside, FINISHED, wrong_owner, kind=Kind.RELEASE)
    assert checks_left(builder.program()) == 1


def test_a_check_proves_the_next_one() -> None:
    builder = Builder()
    builder.lock()
    body = builder.thread()
    body.edge(body.at(), FINISHED, held_by(0), held_by(0), put(LOCK, 0), kind=Kind.RELEASE)
    assert checks_left(builder.program()) == 1


def test_conjuncts() -> None:
    first, second = equals(1, 0), equals(2, 0)
    both = Conditional(first, second, ZERO)
    assert conjuncts(both) == [first, second]
    assert conjuncts(Conditional(first, second, ONE)) == [Conditional(first, second, ONE)]
    assert conjuncts(None) == []
    assert conjuncts(ONE) == []


def anonymous_release(body: Body, source: int, target: int) -> None:
    """Anybody may release it, as a `threading.Lock`."""
    taken = Check(Binary("ne", load(LOCK), ZERO), Fault.LOCK, "not locked")
    body.edge(source, target, taken, put(LOCK, 0), kind=Kind.RELEASE)


def test_a_lock_that_nobody_releases_for_others_is_disciplined() -> None:
    builder = Builder()
    builder.lock()
    for _ in range(2):
        body = builder.thread()
        start, inside = body.at(), body.at()
        body.acquire(start, inside, LOCK)
        anonymous_release(body, inside, FINISHED)
    program = builder.program()
    assert Ownership(program).disciplined == {LOCK}
    assert checks_left(program) == 0


def test_one_release_for_others_spoils_the_lock() -> None:
    builder = Builder()
    builder.lock()
    with_lock(builder)
    body = builder.thread()
    anonymous_release(body, body.at(), FINISHED)
    program = builder.program()
    assert Ownership(program).disciplined == frozenset()
    assert checks_left(program) == 2


def test_a_recursive_acquisition_is_disciplined() -> None:
    builder = Builder()
    builder.lock()
    for _ in range(2):
        body = builder.thread()
        start, inside = body.at(), body.at()
        mine = equals(LOCK, body.number + 1)
        free_or_mine = Conditional(equals(LOCK, 0), ONE, mine)
        body.edge(start, inside, put(LOCK, body.number + 1), guard=free_or_mine)
        release(body, inside, FINISHED)
    assert checks_left(builder.program()) == 0


def test_a_thread_may_be_set_anywhere_by_another() -> None:
    """Thread 1 is put inside the section without having taken the lock."""
    builder = Builder()
    builder.lock()
    outside = builder.thread()
    first = outside.at()
    section = builder.thread()
    start, inside = section.at(), section.at()
    section.acquire(start, inside, LOCK)
    release(section, inside, FINISHED)
    outside.edge(first, FINISHED, put(section.counter, inside), kind=Kind.CREATE)
    assert checks_left(builder.program()) == 1
