"""Threads that are started again: they go on with the local cells that they left."""

from __future__ import annotations

import pytest
from tests.soundness.variants import VARIANTS, difference
from tests.unit.ir.programs import Builder, equals, load, put

from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.liveness import find_carried_over, find_restarts, reset_dead_locals
from mazurka.ir.passes.merge import merge_local_steps
from mazurka.ir.program import FINISHED, FIRST_LOCATION, IDLE, Check, Fault, Kind, Mode, Program
from mazurka.ir.values.footprints import Footprints
from mazurka.stateful.reference.full import explore


def again(program: Program) -> set[int]:
    return set(find_restarts(Footprints(program)))


def seen_idle(counter: int) -> Expr:
    return Binary("eq", Load(Const(counter)), Const(IDLE))


def counting(*, starts: int, active: bool = False, given: bool = False) -> Program:
    """A thread puts its local in x and changes it; another one starts it several times."""
    builder = Builder()
    x = builder.shared("x", 0, 9)
    creator, worker = builder.thread(), builder.thread(active=active)
    local = worker.local("local", 0, 9)
    first, second = worker.at(), worker.at()
    worker.edge(first, second, put(x, load(local)))
    worker.edge(second, FINISHED, put(local, 5), kind=Kind.LOCAL)
    here = creator.at()
    for _ in range(starts):
        following = creator.at()
        handing = [put(local, 2)] if given else []
        start = put(worker.counter, FIRST_LOCATION)
        creator.edge(here, following, *handing, start, kind=Kind.CREATE)
        here = following
    creator.edge(here, FINISHED, kind=Kind.LOCAL)
    return builder.program()


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_passes_keep_what_a_thread_that_is_started_again_finds(variant: str, active: bool) -> None:
    raw = counting(starts=2, active=active)
    assert {state[1] for state in explore(raw).states} == {0, 5}
    assert difference(raw, VARIANTS[variant](raw), 1000) is None


def test_what_is_read_first_is_kept_to_the_end_and_beyond() -> None:
    raw = counting(starts=2)
    (local,) = find_carried_over(raw)[1]
    assert raw.cells[local].name == "local"
    assert all(local not in place.resets for place in reset_dead_locals(raw).threads[1].locations)


def test_a_step_that_a_second_start_would_prevent_is_not_merged() -> None:
    once, twice = (merge_local_steps(counting(starts=n)).threads[1] for n in (1, 2))
    assert once.locations[FIRST_LOCATION + 1].mode is Mode.MERGED
    assert twice.locations[FIRST_LOCATION + 1].mode is Mode.VISIBLE


def test_what_every_start_writes_is_not_carried_over() -> None:
    raw = counting(starts=2, given=True)
    assert again(raw) == {1}
    assert find_carried_over(raw) == {1: frozenset()}
    assert difference(raw, VARIANTS["prepared"](raw), 1000) is None


def test_what_a_start_writes_behind_the_counter_may_come_too_late() -> None:
    """A check in between could fail, and the thread would run with what it had."""
    builder = Builder()
    x = builder.shared("x", 0, 9)
    creator, worker = builder.thread(), builder.thread()
    local = worker.local("local", 0, 9)
    worker.line(put(x, load(local)), put(local, 7))
    check = Check(equals(x, 0), Fault.ASSERT, "no")
    start = put(worker.counter, FIRST_LOCATION)
    here, following = creator.at(), creator.at()
    creator.edge(here, following, start, check, put(local, 1), kind=Kind.CREATE)
    creator.edge(following, FINISHED)
    assert find_carried_over(builder.program()) == {1: frozenset({local})}


def test_who_starts_a_thread_once_needs_no_look() -> None:
    assert again(counting(starts=1)) == set()
    assert again(counting(starts=1, active=True)) == {1}
    assert again(counting(starts=2)) == {1}


@pytest.mark.parametrize("how", ["guard", "check"])
def test_who_sees_that_a_thread_is_idle_starts_it_once(how: str) -> None:
    builder = Builder()
    creator, worker = builder.thread(), builder.thread(active=False)
    idle, start = seen_idle(worker.counter), put(worker.counter, FIRST_LOCATION)
    here = creator.at()
    if how == "guard":
        creator.edge(here, here, start, guard=idle, kind=Kind.CREATE)
    else:
        check = Check(idle, Fault.EXCEPTION, "started twice")
        creator.edge(here, here, check, start, kind=Kind.CREATE)
    worker.line(put(builder.shared("x", 0, 1), 1))
    assert again(builder.program()) == set()


def test_a_look_is_worth_nothing_behind_another_store() -> None:
    builder = Builder()
    creator, worker = builder.thread(), builder.thread(active=False)
    start = put(worker.counter, FIRST_LOCATION)
    here = creator.at()
    creator.edge(here, here, start, start, guard=seen_idle(worker.counter), kind=Kind.CREATE)
    worker.line(put(builder.shared("x", 0, 1), 1))
    assert again(builder.program()) == {1}


def test_who_is_started_again_starts_others_again() -> None:
    builder = Builder()
    boss, middle, last = (builder.thread(active=n == 0) for n in range(3))
    here = boss.at()
    boss.edge(here, here, put(middle.counter, FIRST_LOCATION), kind=Kind.CREATE)
    middle.line(put(last.counter, FIRST_LOCATION), kind=Kind.CREATE)
    last.line(put(builder.shared("x", 0, 1), 1))
    assert again(builder.program()) == {1, 2}


def test_two_who_start_one_thread() -> None:
    builder = Builder()
    one, other, worker = (builder.thread(active=n < 2) for n in range(3))
    start = put(worker.counter, FIRST_LOCATION)
    one.line(start, kind=Kind.CREATE)
    here = other.at()
    other.edge(here, FINISHED, start, guard=seen_idle(worker.counter), kind=Kind.CREATE)
    worker.line(put(builder.shared("x", 0, 1), 1))
    assert again(builder.program()) == {2}
