"""Searches over schedules against the unreduced search, on random programs that have an end.

Each search must find the kinds of violation that can happen, all of them: a search for schedules
goes on after a failure, and each failure and each deadlock belongs to some trace.  The traces
themselves are enumerated by brute force where they are few (`tests.soundness.schedules`).
"""

from __future__ import annotations

import functools
from random import Random

import pytest

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import DEAD_ENDS, Program
from mazurka.search import Move, Violation
from mazurka.stateful.reference.full import StateSpace as Whole
from mazurka.stateless.answering import summarize
from mazurka.stateless.explored import Explored, RunOptions, run_limit
from mazurka.stateless.models.execution import IRExecution, PlainIRExecution
from mazurka.stateless.reduction.actions import Action
from mazurka.stateless.reduction.dpor import DynamicReduction, SleepingReduction
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepSets
from mazurka.stateless.reduction.source_dpor import SourceSets
from mazurka.stateless.runs import choice_of, thread_of
from tests.soundness.amounts import shares
from tests.soundness.choosing_models import write_choosing
from tests.soundness.reductions import Subject
from tests.soundness.replaying import replays
from tests.soundness.schedules import (
    MOST_RUNS,
    completed_traces,
    explored_if_it_ends,
    terminal_traces,
)

STATES = 400
"""Programs with more states are left out: a schedule search sees each of them many times."""
PREFIXES = 3000
"""Programs with more prefixes of traces are not counted."""
PROGRAMS = shares(80)
PORTION = 20
CHOOSING = shares(20)
"""Programs whose threads choose all the time."""

ONE_EACH = (SleepSets, SleepingReduction, SourceSets, WakeupTrees)
EACH = (DynamicReduction, *ONE_EACH)

# The tests of one portion follow each other, so that its programs are made and explored once.
portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION), scope="module")


@functools.cache
def programs(first: int) -> list[tuple[str, Program, Whole]]:
    """The programs of a portion that are small and have an end, with all that can happen."""
    found = []
    for seed in range(first, first + PORTION):
        subject = Subject(seed)
        program = subject.program()
        whole = explored_if_it_ends(program, STATES)
        if whole is not None:
            found.append((str(subject), program, whole))
    return found


def search(kind: type[ScheduleSearch], program: Program) -> Explored | None:
    """What a search finds; None if it runs too many schedules, which only one of them may."""
    most = MOST_RUNS if kind is DynamicReduction else None
    options = RunOptions(max_runs=most, stop_at_first=False)
    found = kind(IRExecution(program), options).run()
    return None if run_limit(MOST_RUNS) in found.limits else found


@portions
def test_every_search_finds_what_can_happen(first: int) -> None:
    for name, program, whole in programs(first):
        for kind in EACH:
            found = search(kind, program)
            if found is not None:
                assert found.kinds == whole.kinds, (name, kind.__name__)
                assert ("deadlock" in found.kinds) == bool(whole.deadlocks), (name, kind.__name__)


@portions
def test_what_is_found_first_replays(first: int) -> None:
    """What is found later may come after another failure, which ends a replay."""
    for name, program, _ in programs(first):
        for kind in (SleepingReduction, WakeupTrees):
            found = search(kind, program)
            assert found is not None
            for failing in found.failures[:1]:
                path = tuple(Move(thread_of(move), choice_of(move)) for move in failing.schedule)
                assert replays(program, Violation(failing.failed.kind, path)), (name, failing)


@portions
def test_each_trace_is_completed(first: int) -> None:
    """Each one, and none twice; only without sleep sets there may be repetitions."""
    for name, program, whole in programs(first):
        if any(report.fault in DEAD_ENDS for _, _, report in whole.faults):
            continue  # runs behind a step without an end are no executions
        traces = terminal_traces(program, PREFIXES)
        if traces is None:
            continue
        for kind in EACH:
            completed = completed_traces(kind, program)
            if completed is not None:
                assert set(completed) == traces, (name, kind.__name__)
                once = len(completed) == len(traces)
                assert once or kind is DynamicReduction, (name, kind.__name__)


def test_each_trace_is_completed_whatever_is_chosen() -> None:
    """Where the choices of one thread touch different things, or wait for them."""
    for seed in range(CHOOSING):
        program = prepare(elaborate(write_choosing(Random(seed)), "model.py"))
        traces = terminal_traces(program, PREFIXES // 4)
        if traces is None:
            continue
        for kind in ONE_EACH:
            completed = completed_traces(kind, program)
            assert completed is not None
            assert len(completed) == len(traces), (seed, kind.__name__)
            assert set(completed) == traces, (seed, kind.__name__)
        assert WakeupTrees(IRExecution(program), RunOptions()).run().abandoned == 0, seed


@portions
def test_optimal_search_makes_no_run_in_vain(first: int) -> None:
    for name, program, _ in programs(first):
        found = search(WakeupTrees, program)
        assert found is not None
        assert found.abandoned == 0, name


@portions
def test_better_searches_take_fewer_steps(first: int) -> None:
    for name, program, _ in programs(first):
        found = {kind: search(kind, program) for kind in (SleepSets, SourceSets, WakeupTrees)}
        alone, source, optimal = (found[kind] for kind in (SleepSets, SourceSets, WakeupTrees))
        assert alone is not None
        assert source is not None
        assert optimal is not None
        assert optimal.steps <= alone.steps, name
        assert source.steps <= alone.steps, name


@portions
def test_remembered_views_change_nothing(first: int) -> None:
    """Counts, findings and schedules are those of a search that asks the interpreter each time."""
    for name, program, _ in programs(first):
        quick, plain = (
            SourceSets(kind(program), RunOptions(stop_at_first=False)).run()
            for kind in (IRExecution, PlainIRExecution)
        )
        assert summarize(quick) == summarize(plain), name


@portions
def test_actions_change_only_by_conflicts(first: int) -> None:
    """What searches rely on (`stateless.reduction.actions`): see there."""
    for name, program, whole in programs(first):
        execution = IRExecution(program)
        for state in list(whole.states)[:100]:
            actions = [
                execution.view_at(state, thread).actions for thread in range(len(program.threads))
            ]
            for action in (a for some in actions for a in some if a.enabled):
                step = execution.interpreter.step(state, action.thread, choice_of(action.move))
                if step.fault is not None and step.fault.fault in DEAD_ENDS:
                    continue
                for thread, before in enumerate(actions):
                    if thread != action.thread:
                        after = execution.view_at(step.state, thread).actions
                        same = [_described(a) for a in before] == [_described(a) for a in after]
                        conflict = any(not action.writes.isdisjoint(a.reads) for a in before)
                        still = any(not action.writes.isdisjoint(a.reads) for a in after)
                        assert same or (conflict and still), (name, action, before, after)


@portions
def test_fixed_actions_touch_the_same_things_whatever_others_do(first: int) -> None:
    """Two states in which a thread's own cells are the same, and a point that is fixed."""
    for name, program, whole in programs(first):
        execution = IRExecution(program)
        known: dict[object, tuple[frozenset[object], frozenset[object]]] = {}
        for state in whole.states:
            for thread in range(len(program.threads)):
                own = tuple(
                    state[address]
                    for address, cell in enumerate(program.cells)
                    if cell.owner == thread
                )
                for action in execution.view_at(state, thread).actions:
                    if action.fixed and action.enabled and program.threads[thread].active:
                        touched = (action.reads, action.writes)
                        key = (thread, own, action.move)
                        assert known.setdefault(key, touched) == touched, (name, action)


def _described(action: Action) -> tuple[object, ...]:
    return action.move, action.reads, action.writes, action.enabled
