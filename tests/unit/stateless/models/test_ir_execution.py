"""Programs as executions: actions, attempts, and what the edges tell about them."""

from __future__ import annotations

from tests.unit.ir.programs import Builder, crossed_locks, equals, load, plus, put
from tests.unit.stateless.schedule_programs import (
    choice_that_others_enable,
    critical_sections,
    read_modify_write,
)

from mazurka.ir.expressions import Binary, Const, Element, Load, negate
from mazurka.ir.program import FINISHED, FIRST_LOCATION, Assign, Check, Fault, Kind, Program
from mazurka.ir.values.footprints import Footprints
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.models.fixed_points import Point, PointTable
from mazurka.stateless.reduction.actions import Action


def point(program: Program, location: int = FIRST_LOCATION, thread: int = 0) -> Point:
    return PointTable(program, thread, Footprints(program)).at(location)


def enabled_actions(execution: IRExecution) -> list[Action]:
    return [action for some in execution.actions().values() for action in some if action.enabled]


def test_what_can_happen_first() -> None:
    execution = IRExecution(read_modify_write(2, 1))
    assert [action.move for action in enabled_actions(execution)] == [0, 1]


def test_waiting_is_an_attempt_that_reads_the_lock() -> None:
    execution = IRExecution(critical_sections(2, 1))
    lock = 2
    execution.step(0)
    (attempt,) = execution.actions()[1]
    assert (attempt.enabled, attempt.may_block, attempt.fixed) == (False, True, True)
    assert (attempt.reads, attempt.writes) == ({lock}, frozenset())
    execution.step(0)
    assert execution.actions()[1][0] is attempt  # nobody has touched the lock
    execution.step(0)
    assert execution.actions()[1][0].enabled


def test_rewind_and_preview() -> None:
    execution = IRExecution(read_modify_write(2, 1))
    before = execution.state
    execution.step(0)
    execution.step(1)
    (later,) = execution.preview(0, 0b10, 1)
    assert later.writes == {1}
    (first,) = execution.preview(0, 0b10, 0)
    assert first.reads == {1}
    assert execution.actions()[0][0].writes == {1}  # still where it stood
    execution.rewind(0)
    assert execution.state == before


def test_deadlock() -> None:
    execution = IRExecution(crossed_locks())
    execution.step(0)
    assert not execution.deadlocked()
    execution.step(1)
    assert execution.deadlocked()
    assert enabled_actions(execution) == []


def test_choices_read_what_each_of_them_looks_at() -> None:
    execution = IRExecution(choice_that_others_enable())
    possible, stuck = execution.actions()[0]
    assert (possible.enabled, stuck.enabled) == (True, False)
    assert possible.reads == stuck.reads == {1}


def test_failures() -> None:
    builder = Builder()
    body = builder.thread()
    body.edge(body.at(), FINISHED, Check(Const(0), Fault.ASSERT, "never"), kind=Kind.ASSERT)
    execution = IRExecution(builder.program())
    execution.step(0)
    (failure,) = execution.failures
    assert (failure.kind, failure.message, failure.unfinished) == ("assert", "never", False)
    assert execution.actions()[0] == ()


def creating() -> Program:
    """Thread 0 hands thread 1 an argument and starts it, which writes the argument to x."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    creator, created = builder.thread(), builder.thread(active=False)
    argument = created.local("argument", 0, 1)
    start, after = creator.at(), creator.at()
    begin = (put(argument, 1), put(created.counter, FIRST_LOCATION))
    creator.edge(start, after, *begin, kind=Kind.CREATE, atomic=True)
    creator.edge(after, FINISHED, put(x, 0))
    created.line(put(x, load(argument)))
    return builder.program()


def test_a_created_thread_comes_after_its_creation() -> None:
    program = creating()
    execution = IRExecution(program)
    counter = program.threads[1].counter
    (idle,) = execution.actions()[1]
    assert (idle.enabled, idle.reads) == (False, {counter})
    (create,) = execution.actions()[0]
    assert create.writes == {counter}  # for the argument as well
    execution.step(0)
    (first,) = execution.actions()[1]
    assert first.enabled
    assert counter in first.reads
    assert first.life == counter


def test_points() -> None:
    builder = Builder()
    x, y = builder.shared("x", 0, 9), builder.shared("y", 0, 9)
    body = builder.thread()
    own = body.local("own", 0, 9)
    cells = Element(Const(x), load(own), 2, 1)
    sort = {
        "own index": [(None, put(own, Load(cells)))],
        "shared index": [(None, put(own, Load(Element(Const(x), load(y), 2, 1))))],
        "lock": [(equals(x, 0), put(x, 1))],
        "counts": [(None, put(x, plus(x, 1)))],
        "branch": [(equals(x, 0), put(own, 1)), (negate(equals(x, 0)), put(own, 2))],
        "uneven branch": [(equals(x, 0), put(y, 1)), (negate(equals(x, 0)), put(own, 2))],
        "gap": [(equals(x, 0), put(own, 1)), (equals(x, 1), put(own, 2))],
        "own guard": [(equals(own, 0), put(x, 1))],
    }
    places = {}
    for name, ways in sort.items():
        places[name] = body.at()
        for guard, operation in ways:
            body.edge(places[name], FINISHED, operation, guard=guard)
    both = body.at()
    division = put(own, Binary("floordiv", Const(1), load(x)))
    body.edge(both, FINISHED, division, Assign(Const(y), Const(1)))
    program = builder.program()
    found = {name: point(program, place) for name, place in places.items()}
    fixed = {name for name, known in found.items() if known.fixed}
    assert fixed == {"own index", "lock", "branch", "own guard"}
    assert {name for name, known in found.items() if known.may_block} == {"lock", "gap"}
    assert not point(program, both).fixed  # the division may fail before y is written
    assert found["shared index"].may_read == {x, y}
