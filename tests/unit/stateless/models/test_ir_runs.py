"""Models as runnable programs: objects, prefixes, failures, deadlocks, and what is refused."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, load, plus, put
from tests.unit.stateless.bodies import recorded
from tests.unit.stateless.schedule_programs import (
    choices_beside_a_write,
    critical_sections,
    own_variables,
    read_modify_write,
    same_variable,
)

from mazurka.errors import UnsupportedError
from mazurka.ir.expressions import Const
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Program
from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.iterative import explore
from mazurka.stateless.models.runs import IRRuns


def explored(program: Program, bound: int | None = None) -> Explored:
    return explore(IRRuns(program), bound, options=RunOptions(stop_at_first=False))


def test_counts() -> None:
    """Orders of sections, and of accesses up to swapped reads, as for simulated threads."""
    assert explored(own_variables(3)).executions == 1
    assert explored(same_variable(3)).executions == 6
    assert explored(critical_sections(3, 1)).executions == 6
    assert explored(critical_sections(3, 2)).executions == 90
    assert explored(read_modify_write(2, 2)).executions == 34


def test_steps_that_touch_nothing_are_no_scheduling_points() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    for _ in range(2):
        body = builder.thread()
        copy = body.local("copy", 0, 9)
        body.line(put(copy, 1), put(copy, 2), put(x, load(copy)), put(copy, 0))
    graph, _ = recorded(IRRuns(builder.program()))
    assert graph.schedule == [0, 1]


def test_prefixes_know_their_enabled_threads() -> None:
    graph, _ = recorded(IRRuns(critical_sections(2, 1)))
    assert graph.schedule == [0, 0, 0, 1, 1, 1]
    for _ in range(3):
        graph.back(1)
    assert graph.enabled()[0] == 0b10
    graph.back(0)
    assert graph.enabled()[0] == 0b01
    graph.back(0)
    graph.back(0)
    assert graph.enabled()[0] == 0b11


def test_failures_have_a_place() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 2)
    for _ in range(2):
        body = builder.thread()
        copy = body.local("copy", 0, 2)
        body.line(put(copy, load(x)), put(x, plus(copy, 1)))
    last = builder.thread()
    here = last.at()
    check = Check(Const(0), Fault.ASSERT, "too late")
    last.edge(here, FINISHED, check, kind=Kind.AWAIT, guard=load(x))
    found = explored(builder.program())
    [failing] = [failing for failing in found.failures if failing.failed.kind == "assert"]
    assert failing.failed.message == "too late"
    assert failing.failed.thread == 2
    assert failing.failed.line is not None


def test_deadlocks_are_found() -> None:
    builder = Builder()
    one, other = builder.lock("a"), builder.lock("b")
    for first, second in ((one, other), (other, one)):
        body = builder.thread()
        start, inside, both = body.at(), body.at(), body.at()
        body.acquire(start, inside, first)
        body.acquire(inside, both, second)
        after = body.at()
        body.edge(both, after, put(second, 0), kind=Kind.RELEASE)
        body.edge(after, FINISHED, put(first, 0), kind=Kind.RELEASE)
    found = explored(builder.program(), 1)
    [failing] = found.failures
    assert (failing.failed.kind, failing.preemptions) == ("deadlock", 1)


def test_choices_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="no part of a schedule"):
        IRRuns(choices_beside_a_write(2))
