"""What threads may touch now and later: contains what they do touch, and not much else."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.unit.ir.programs import Body, Builder, equals, load, put

from mazurka.analysis.cell_sets import NOTHING, CellSets, bits
from mazurka.analysis.futures import Futures
from mazurka.ir.expressions import ZERO, Binary, Const, Element
from mazurka.ir.interpreter import Interpreter, Step
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    WRONG,
    Assign,
    Check,
    Fault,
    Kind,
    Mode,
    Program,
)
from mazurka.stateful.reference.full import explore

STATES = 150


def contains(larger: CellSets, smaller: CellSets) -> bool:
    return larger | smaller == larger


def touched(futures: Futures, step: Step) -> CellSets:
    """What a step touches; cells of queues whose ends are independent appear as ends."""
    footprint = CellSets(bits(step.footprint_reads), bits(step.footprint_writes))
    return footprint.without(futures.channels.cells)


def assert_ends_are_used(futures: Futures, step: Step, here: int) -> None:
    """A step that touches a queue uses one of its ends at least."""
    now, later = futures.now(step.thread, here), futures.later(step.thread, here)
    cells = step.footprint_reads | step.footprint_writes
    for channel in futures.channels.channels.values():
        if not cells.isdisjoint(channel.cells):
            assert (now.reads | now.writes) & channel.both
            assert (later.reads | later.writes) & channel.both or not step.happened


def assert_covers(program: Program) -> None:
    futures, interpreter = Futures(program), Interpreter(program)
    for state in explore(program, races=False, limit=STATES).states:
        for _, step in interpreter.steps(state):
            thread, here = step.thread, interpreter.location(state, step.thread)
            footprint = touched(futures, step)
            assert_ends_are_used(futures, step, here)
            assert contains(futures.now(thread, here), footprint)
            if step.happened:
                after = interpreter.location(step.state, thread)
                assert contains(futures.later(thread, here), footprint)
                assert contains(futures.later(thread, here), futures.later(thread, after))
            if here == IDLE:
                entry = program.threads[thread].entry
                assert contains(futures.later(thread, IDLE), futures.later(thread, entry))


@settings(parent=random_programs, max_examples=25)
@given(st.randoms(use_true_random=False))
def test_later_contains_every_step(rng: Random) -> None:
    assert_covers(random_program(rng))
    assert_covers(disciplined_program(rng))


def two_threads() -> tuple[Builder, Body, Body]:
    builder = Builder()
    return builder, builder.thread(), builder.thread()


def test_sections_and_guards_are_part_of_a_step() -> None:
    builder, body, other = two_threads()
    x, y, z, rest = (builder.shared(name, 0, 3) for name in ("x", "y", "z", "rest"))
    start, inside, behind = body.at(), body.at(Mode.ATOMIC), body.at()
    body.edge(start, inside, put(x, load(y)), atomic=True)
    body.edge(start, FINISHED, guard=equals(z, 1))
    body.edge(inside, behind, put(z, 2), atomic=True)
    body.edge(behind, FINISHED, put(rest, 1))
    other.line(put(x, 1))
    futures = Futures(builder.program())
    assert futures.now(0, start) == CellSets(bits([y, z]), bits([x, z]))
    assert futures.later(0, start) == CellSets(bits([y, z]), bits([x, z, rest]))
    assert futures.later(0, behind) == futures.now(0, behind) == CellSets(0, bits([rest]))
    assert futures.later(0, FINISHED) == futures.later(0, WRONG) == NOTHING
    assert futures.everywhere(0) == futures.later(0, start)


def test_index_that_is_not_known_means_every_element() -> None:
    builder, body, _ = two_threads()
    index = builder.shared("i", 0, 2)
    array = [builder.shared(f"a[{n}]", 0, 3) for n in range(3)]
    body.line(Assign(Element(Const(array[0]), load(index), 3, 1), ZERO))
    assert Futures(builder.program()).now(0, FIRST_LOCATION) == CellSets(bits([index]), bits(array))


class Holding:
    """Thread 0 holds the lock; what thread 1 does is written by each test."""

    def __init__(self) -> None:
        self.builder, holder, self.body = two_threads()
        self.lock, self.x, self.y = (
            self.builder.lock(),
            self.builder.shared("x", 0, 3),
            self.builder.shared("y", 0, 3),
        )
        holder.acquire(holder.at(), FINISHED, self.lock)

    def touches(self, cell: int) -> bool:
        """Whether thread 1 may write a cell before thread 0 moves."""
        futures = Futures(self.builder.program())
        assert futures.later(1, FIRST_LOCATION).writes >> cell & 1
        held = frozenset({self.lock})
        return bool(futures.later(1, FIRST_LOCATION, held).writes >> cell & 1)


def test_nothing_behind_an_acquisition() -> None:
    case = Holding()
    start, waiting, behind = case.body.at(), case.body.at(), case.body.at()
    case.body.edge(start, waiting, put(case.y, 1))
    case.body.acquire(waiting, behind, case.lock)
    case.body.edge(behind, FINISHED, put(case.x, 1))
    assert not case.touches(case.x)
    assert case.touches(case.y)


def test_way_around_the_lock() -> None:
    case = Holding()
    start, behind = case.body.at(), case.body.at()
    case.body.acquire(start, behind, case.lock)
    case.body.edge(start, behind, guard=Binary("ne", load(case.lock), ZERO))
    case.body.edge(behind, FINISHED, put(case.x, 1))
    assert case.touches(case.x)


def section(case: Holding, *first: Assign | Check) -> None:
    """An atomic section that does something, then needs the lock."""
    start, inside, behind = case.body.at(), case.body.at(Mode.ATOMIC), case.body.at()
    case.body.edge(start, inside, *first, atomic=True)
    case.body.acquire(inside, behind, case.lock)
    case.body.edge(behind, FINISHED)


def test_section_that_needs_the_lock_does_not_happen() -> None:
    case = Holding()
    section(case, put(case.x, 1))
    assert not case.touches(case.x)


@pytest.mark.parametrize("checks", [False, True])
def test_section_that_may_fail_before_it_needs_the_lock(checks: bool) -> None:
    """What it has done by then remains."""
    case = Holding()
    may_fail = Check(equals(case.y, 0), Fault.ASSERT, "") if checks else put(case.y, load(case.x))
    section(case, put(case.x, 1), may_fail)
    assert case.touches(case.x)


def test_section_with_another_way_out() -> None:
    case = Holding()
    section(case, put(case.x, 1))
    case.body.edge(FIRST_LOCATION + 1, FINISHED, guard=equals(case.y, 1), atomic=True)
    assert case.touches(case.x)


def test_section_that_may_go_round_for_ever() -> None:
    """A step that does not end is a fault, which happens."""
    case = Holding()
    section(case, put(case.x, 1))
    case.body.edge(FIRST_LOCATION + 1, FIRST_LOCATION + 1, guard=equals(case.y, 1), atomic=True)
    assert case.touches(case.x)


def test_guard_that_may_fail_reads_all_the_same() -> None:
    case = Holding()
    start = case.body.at()
    guard = Binary("floordiv", load(case.y), load(case.x))
    case.body.acquire(start, FINISHED, case.lock)
    case.body.edge(start, FINISHED, guard=guard)
    held = frozenset({case.lock})
    futures = Futures(case.builder.program())
    assert futures.later(1, start, held).reads == bits([case.x, case.y, case.lock])


def test_arguments_are_settled_when_a_thread_is_started() -> None:
    """The creator does not disturb a thread that runs; what is written later does."""
    for late in (False, True):
        builder, creator, worker = two_threads()
        argument = worker.local("argument", 0, 3)
        worker.active = False
        here, behind = creator.at(), creator.at()
        start = put(worker.counter, FIRST_LOCATION)
        creator.edge(here, behind, put(argument, 1), start, kind=Kind.CREATE, atomic=True)
        creator.edge(behind, FINISHED, *([put(argument, 2)] if late else []))
        x = builder.shared("x", 0, 3)
        worker.line(put(x, load(argument)))
        futures = Futures(builder.program())
        assert futures.own[1] == CellSets(bits([argument]) if late else 0, 0)
        assert futures.later(1, IDLE).writes == bits([x])


def test_thread_that_is_started_again_may_do_everything_anywhere() -> None:
    builder, creator, worker = two_threads()
    worker.active = False
    here = creator.at()
    creator.edge(here, here, put(worker.counter, FIRST_LOCATION), kind=Kind.CREATE, atomic=True)
    x, y = builder.shared("x", 0, 3), builder.shared("y", 0, 3)
    worker.line(put(x, 1), put(y, 1))
    futures = Futures(builder.program())
    everything = CellSets(bits([worker.counter]), bits([x, y]))
    for location in (IDLE, FINISHED, WRONG, FIRST_LOCATION, FIRST_LOCATION + 1):
        assert futures.later(1, location) == everything


def test_who_looks_at_a_counter() -> None:
    """Asking whether a thread is IDLE is no use of its steps; asking where it stands is one."""
    for value, used in ((IDLE, False), (FINISHED, True)):
        builder, watched, watching = two_threads()
        watched.line(put(builder.shared("x", 0, 3), 1))
        watching.edge(watching.at(), FINISHED, guard=equals(watched.counter, value))
        own = Futures(builder.program()).own[0]
        assert own == CellSets(0, bits([watched.counter]) if used else 0)


@pytest.mark.parametrize("writes", [False, True])
def test_observers_that_do_more_than_look(writes: bool) -> None:
    builder = Builder()
    x = builder.shared("x", 0, 3)
    builder.thread().line(put(x, 1))
    observer = builder.thread(observer=True)
    seen = observer.local("seen", 0, 3)
    observer.line(put(x if writes else seen, load(x)))
    assert Futures(builder.program()).observers_meddle == writes
