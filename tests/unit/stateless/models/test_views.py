"""Remembered views change nothing but the time."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, crossed_locks, load, put
from tests.unit.stateless.schedule_programs import (
    choice_that_others_enable,
    critical_sections,
    guard_of_two,
    indexer,
    read_modify_write,
)

from mazurka.ir.program import FINISHED, Kind, Program
from mazurka.stateless.answering import summarize
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.models.execution import IRExecution, PlainIRExecution
from mazurka.stateless.reduction.dpor import SleepingReduction
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch

PROGRAMS = {
    "sections": critical_sections(3, 2),
    "lost updates": read_modify_write(2, 2),
    "deadlock": crossed_locks(),
    "choice": choice_that_others_enable(),
    "guard": guard_of_two(first=True),
    "indexer": indexer(12),
}

each = pytest.mark.parametrize("name", PROGRAMS)


def everything(search: type[ScheduleSearch], execution: IRExecution) -> object:
    return summarize(search(execution, RunOptions(stop_at_first=False)).run())


@each
@pytest.mark.parametrize("search", [SleepingReduction, WakeupTrees])
def test_searches_agree_with_the_interpreter(name: str, search: type[ScheduleSearch]) -> None:
    program = PROGRAMS[name]
    quick = everything(search, IRExecution(program))
    assert quick == everything(search, PlainIRExecution(program))


@each
def test_forgetting_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = everything(WakeupTrees, IRExecution(PROGRAMS[name]))
    monkeypatch.setattr("mazurka.stateless.models.views.MOST_VIEWS", 3)
    execution = IRExecution(PROGRAMS[name])
    assert everything(WakeupTrees, execution) == quick
    assert execution.views.count <= 3


def test_a_view_is_worked_out_once() -> None:
    execution = IRExecution(read_modify_write(2, 1))
    first = execution.known[-1][0]
    execution.step(1)
    assert execution.known[-1][0] is first  # a read of x changes nothing
    execution.step(1)
    assert execution.known[-1][0] is not first
    execution.rewind(0)
    assert execution.known[-1][0] is first


def writer_and_setter() -> Program:
    """Thread 0 sets x to 1 without reading it; thread 1 sets it to 2 before."""
    builder = Builder()
    x = builder.shared("x", 0, 2, initial=1)
    builder.thread().line(put(x, 1))
    builder.thread().line(put(x, 2))
    reader = builder.thread()
    reader.line(put(reader.local("seen", 0, 2), load(x)))
    return builder.program()


def test_a_write_that_changes_nothing_here_changes_something_elsewhere() -> None:
    """The view of thread 0 is worked out where x is 1 already, and used where x is 2."""
    program = writer_and_setter()
    execution = IRExecution(program)
    x = next(a for a, cell in enumerate(program.cells) if cell.name == "x")
    execution.step(0)
    assert execution.state[x] == 1
    execution.rewind(0)
    execution.step(1)
    assert execution.state[x] == 2
    execution.step(0)
    assert execution.state[x] == 1


def test_a_state_that_comes_back_is_noticed_and_forgotten() -> None:
    builder = Builder()
    body = builder.thread()
    here, there = body.at(), body.at()
    body.edge(here, there, kind=Kind.LOCAL)
    body.edge(there, here, kind=Kind.LOCAL)
    other = builder.thread()
    other.edge(other.at(), FINISHED, kind=Kind.LOCAL)
    execution = IRExecution(builder.program())
    execution.step(0)
    assert execution.returned is None
    execution.step(0)
    assert execution.returned is not None
    execution.rewind(1)
    assert execution.returned is None
    execution.step(1)
    assert execution.returned is None
    execution.step(0)
    assert execution.returned is None  # the other thread has moved in between
