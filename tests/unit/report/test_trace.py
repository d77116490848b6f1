"""Traces: what each row tells, and how they end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_programs import load, lost_update, straight_line, two_locks

from mazurka.analysis.standstill import is_deadlock
from mazurka.ir.expressions import ZERO, Const
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.program import Assign, Cell, Kind, Role
from mazurka.report.operations import make_row, name_object
from mazurka.report.places import object_name, shown_value
from mazurka.report.trace import confirm
from mazurka.search import Move, Violation


def test_rows_show_values_read_and_written(judge):
    rows = judge(lost_update()).trace.rows
    assert [row.name for row in rows][-1] in ("adder(0)", "adder(1)")
    assert (rows[0].reads, rows[0].writes, rows[0].locals) == ({"n": 0}, {}, {"t": 0})
    assert rows[1].writes == {"n": 1}
    assert rows[-1].failed
    assert not any(row.failed for row in rows[:-1])


def test_a_lock_is_shown_by_its_holder(judge):
    first = judge(two_locks()).trace.rows[0]
    assert first.reads == {"a": "free"}
    assert first.writes == {"a": "left"}
    assert first.operation == "acquire a"


def test_a_deadlock_says_who_waits_for_whom(judge):
    verdict = judge(two_locks())
    assert verdict.violation.kind == "deadlock"
    reasons = [(s.name, s.line, s.reason) for s in verdict.trace.ending]
    assert reasons == [
        ("left", 2, "waits for `b`, held by right"),
        ("right", 5, "waits for `a`, held by left"),
    ]
    assert (verdict.violation.file, verdict.violation.line) == ("small.py", 2)


def test_a_race_names_both_sides(judge):
    verdict = judge(lost_update(), "race")
    assert verdict.violation.kind == "race"
    sides = verdict.trace.collisions
    assert {side.name for side in sides} == {"adder(0)", "adder(1)"}
    assert {side.place for side in sides} == {"n"}
    assert "writes" in {side.action for side in sides}


def test_an_assertion_names_the_values_it_read(judge):
    # adder(0) has seen 0 and written 1; adder(1) has made it 2
    assert judge(lost_update()).violation.message == ("somebody else has counted (n is 2, t is 0)")


def test_a_thread_that_failed_stands_at_the_line_where_it_did(judge):
    verdict = judge(lost_update())
    (failed,) = [standing for standing in verdict.trace.ending if standing.status == "failed"]
    assert failed.name == verdict.trace.rows[-1].name
    assert (failed.file, failed.line) == (verdict.violation.file, verdict.violation.line)
    assert failed.to_json()["source"] == failed.source != ""


def test_a_long_trace_keeps_both_ends():
    program = straight_line(50)
    violation = Violation("exception", (Move(0),) * 51)
    finding, trace = confirm(program, violation, kept=10)
    assert finding.message == "division by zero"
    assert [row.number for row in trace.rows] == [1, 2, 3, 4, 5, 47, 48, 49, 50, 51]
    assert trace.omitted == 41
    assert len(trace.moves) == 51


def test_switches_are_counted():
    program = lost_update()
    path = (Move(0), Move(1), Move(1), Move(0), Move(0))
    _, trace = confirm(program, Violation("race", path[:1], (Move(0), Move(1))))
    assert trace.switches == 0
    _, trace = confirm(program, Violation("race", path[:3], (Move(0), Move(1))))
    assert trace.switches == 1


@pytest.mark.parametrize(
    ("role", "value", "shown"),
    [
        (Role.INT, 1, 1),
        (Role.BOOL, 1, True),
        (Role.BOOL, 0, False),
        (Role.OWNER, 0, "free"),
        (Role.OWNER, 2, "right"),
        (Role.HANDLE, 1, "left"),
        (Role.HANDLE, 0, "None"),
        (Role.POINTER, 1, "a"),
        (Role.POINTER, 0, "None"),
        (Role.SYNC, 1, 1),
    ],
)
def test_values_are_shown_by_role(role, value, shown):
    program = two_locks()
    extra = Cell("x", 0, 9, role=role)
    program = replace(program, cells=(*program.cells, extra))
    result = shown_value(program, len(program.cells) - 1, value)
    assert result == shown
    assert type(result) is type(shown)


def test_operations_look_through_aliases():
    assert name_object("acquire left", "forks[2]") == "acquire forks[2]"
    assert name_object("try to acquire left", "forks[2]") == "try to acquire forks[2]"
    assert name_object("notify ready", "ready") == "notify ready"
    assert name_object("notify_all mine", "conditions[0]") == "notify_all conditions[0]"
    assert name_object("acquire rw to read", "locks[1]") == "acquire locks[1] to read"
    assert name_object("frob mine", "things[0]") == "frob mine (things[0])"


def test_a_part_of_an_object_is_named_after_the_object():
    program = two_locks()
    cells = (Cell("q.count", 0, 3, role=Role.SYNC), Cell("r.sem", 0, 3, role=Role.SYNC))
    program = replace(program, cells=(*program.cells, *cells))
    assert object_name(program, 5, "put q") == "q"
    assert object_name(program, 6, "acquire r.sem") == "r.sem"


def state_after(program, *moves):
    state = program.initial_state()
    for thread in moves:
        state = Interpreter(program).step(state, thread).state
    return state


def test_a_deadlock_is_one_only_while_nobody_can_move():
    program = two_locks(orders=((1, 2), (1, 2)))
    # `right` waits for the lock that `left` holds, but `left` can go on and give it back
    assert not is_deadlock(Interpreter(program), state_after(program, 0))
    assert not is_deadlock(Interpreter(program), state_after(program, 0, 0, 1, 1))
    program = two_locks()
    assert is_deadlock(Interpreter(program), state_after(program, 0, 1))


@pytest.mark.parametrize("gives_back", [True, False])
def test_a_thread_stopped_by_an_assumption_excuses_those_it_could_help(gives_back):
    program = two_locks()
    right = program.threads[1]
    doubtful = replace(right.edges[1], kind=Kind.ASSUME, guard=ZERO)
    if not gives_back:
        doubtful = replace(doubtful, operations=())
    right = replace(right, edges=(right.edges[0], doubtful))
    program = replace(program, threads=(program.threads[0], right))
    found = is_deadlock(Interpreter(program), state_after(program, 0, 1))
    assert found is not gives_back


def test_a_step_that_reads_its_own_write_has_read_nothing_from_others():
    program = lost_update(threads=1)
    thread = program.threads[0]
    both = (Assign(Const(1), Const(7)), Assign(Const(2), load(1)))
    thread = replace(thread, edges=(replace(thread.edges[0], operations=both), *thread.edges[1:]))
    program = replace(program, threads=(thread,))
    before = program.initial_state()
    row = make_row(program, 1, Move(0), Interpreter(program).step(before, 0), before)
    assert (row.reads, row.writes, row.locals) == ({}, {"n": 7}, {"t": 7})
