"""Limits, findings, and why dynamic reduction and sleep sets cannot simply be put together."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, crossed_locks, load, modular_counters, put
from tests.unit.stateless.schedule_programs import critical_sections, read_modify_write

from mazurka.ir.expressions import Binary, Const
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Mode, Program
from mazurka.stateless.explored import Exceeded, Explored, RunOptions
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.dpor import DynamicReduction, SleepingReduction
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepSets
from mazurka.stateless.reduction.source_dpor import SourceSets

ALL = RunOptions(stop_at_first=False)
AT_ONCE = RunOptions(report_every=0.0)


def test_an_execution_that_is_too_long_gives_no_verdict() -> None:
    options = RunOptions(max_steps=5)
    found = WakeupTrees(IRExecution(critical_sections(2, 1)), options).run()
    assert found.limits == ("an execution takes more than 5 steps",)
    assert found.executions == 0


@pytest.mark.parametrize("search", [SleepSets, SleepingReduction, SourceSets, WakeupTrees])
def test_an_execution_that_goes_round_gives_no_verdict(search: type[ScheduleSearch]) -> None:
    """Two counters modulo 3: the first thread is back at its start after three steps."""
    found = search(IRExecution(modular_counters(2, 3)), ALL).run()
    assert len(found.limits) == 1
    assert "some execution never ends" in found.limits[0]
    assert (found.executions, found.steps) == (0, 3)


def test_what_was_found_before_an_execution_went_round_counts() -> None:
    builder = Builder()
    body = builder.thread()
    body.edge(body.at(), FINISHED, Check(Const(0), Fault.ASSERT, "always"), kind=Kind.ASSERT)
    other = builder.thread()
    loop = other.at()
    other.edge(loop, loop, kind=Kind.LOCAL)
    found = WakeupTrees(IRExecution(builder.program()), ALL).run()
    assert found.kinds == {"assert"}
    assert "never ends" in found.limits[0]


def test_an_execution_as_long_as_allowed_is_none_too_long() -> None:
    options = RunOptions(max_steps=6)  # two sections of three steps
    found = WakeupTrees(IRExecution(critical_sections(2, 1)), options).run()
    assert (found.limits, found.executions, found.depth) == ((), 2, 6)


def test_stop_at_first() -> None:
    found = WakeupTrees(IRExecution(crossed_locks()), RunOptions(stop_at_first=True)).run()
    assert found.kinds == {"deadlock"}
    assert found.executions < 3


def test_time() -> None:
    execution = IRExecution(read_modify_write(2, 2))
    assert WakeupTrees(execution, RunOptions(limit_seconds=0.0)).run().limits == ("time",)


def test_progress_is_told_now_and_then() -> None:
    seen: list[tuple[int, int]] = []

    def watch(found: Explored) -> None:
        seen.append((found.executions, found.steps))

    WakeupTrees(IRExecution(critical_sections(2, 1)), AT_ONCE, watch).run()
    assert seen[0] == (0, 0)
    assert (1, 6) in seen  # after the first run


def test_who_watches_can_end_it() -> None:

    def watch(found: Explored) -> None:
        if found.steps == 2:
            raise Exceeded("enough")

    found = WakeupTrees(IRExecution(critical_sections(2, 1)), AT_ONCE, watch).run()
    assert (found.steps, found.executions, found.limits) == (2, 0, ("enough",))


def test_failures_nobody_asks_for_do_not_end_a_search() -> None:
    options = RunOptions(stop_at_first=True, ignored=frozenset({"deadlock"}))
    found = WakeupTrees(IRExecution(crossed_locks()), options).run()
    assert (found.failures, found.executions) == ([], 3)


def endless_section() -> Program:
    """A thread whose atomic section never ends if x is 0; another one sets x, a third one fails."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, kind=Kind.LOCAL, atomic=True)
    body.edge(inside, inside, guard=Binary("eq", load(x), Const(0)), atomic=True)
    body.edge(inside, FINISHED, guard=Binary("ne", load(x), Const(0)), atomic=True)
    builder.thread().line(put(x, 1))
    other = builder.thread()
    other.edge(other.at(), FINISHED, Check(Const(0), Fault.ASSERT, "always"), kind=Kind.ASSERT)
    return builder.program()


def test_a_step_without_an_end_does_not_hide_what_others_do() -> None:
    found = WakeupTrees(IRExecution(endless_section()), ALL).run()
    assert found.kinds == {"livelock", "assert"}
    failing = next(failing for failing in found.failures if failing.failed.kind == "assert")
    assert failing.schedule == (2,)  # not behind the step that never ends


class BothAsTheyAre(DynamicReduction):
    """Flanagan and Godefroid's backtrack points together with sleep sets."""

    uses_sleep_sets = True


def two_readers() -> Program:
    """One thread writes x, one writes y and then reads x, one reads x."""
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    builder.thread().line(put(x, 1))
    second = builder.thread()
    second.line(put(y, 1), put(second.local("seen", 0, 1), load(x)))
    third = builder.thread()
    third.line(put(third.local("seen", 0, 1), load(x)))
    return builder.program()


def test_sleep_sets_need_other_backtrack_points() -> None:
    """Each read comes before or after the write: 4 traces.  One is lost if the two are combined as
    they are: the write sleeps where the reads are to come in another order."""
    assert SleepingReduction(IRExecution(two_readers()), ALL).run().executions == 4
    assert BothAsTheyAre(IRExecution(two_readers()), ALL).run().executions == 3
