"""Deliberately broken searches over schedules: verdicts or counts must tell each from ours.

A mutant that is unsound loses a violation, and says that the program is free of it.  A wasteful one
gives the right verdict and runs too many schedules, or begins too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import Const, negate
from mazurka.ir.interpreter import State, Step
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.models.views import Effect, Views
from mazurka.stateless.reduction.actions import Action, Move
from mazurka.stateless.reduction.dpor import DynamicReduction
from mazurka.stateless.reduction.foresight import RecordedForesight
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepSets
from tests.unit.ir.programs import Builder, crossed_locks, equals, load, plus, put
from tests.unit.stateless.simulated import Body, Simulated, World

ALL = ("sleep-sets", "dpor", "source-dpor", "optimal-dpor")
RACING = ("dpor", "source-dpor", "optimal-dpor")
"""Those that look for races."""

actions = IRExecution.actions
effect = Views.effect


def run(name: str, program: Program) -> SearchResult:
    return load_strategy(name).run(program, SearchOptions(stop_at_first=False), Silent())


def never() -> Check:
    return Check(Const(0), Fault.ASSERT, "never")


def look_twice() -> Program:
    """One thread sets x; another one fails if it finds 0 there, and 1 a moment later."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    builder.thread().line(put(x, 1))
    body = builder.thread()
    here, there = body.at(), body.at()
    body.edge(here, there, guard=equals(x, 0))
    body.edge(here, FINISHED, guard=negate(equals(x, 0)))
    body.edge(there, FINISHED, never(), guard=equals(x, 1), kind=Kind.ASSERT)
    return builder.program()


def early_wait() -> Program:
    """One thread sets x; another one goes on only if x is 0, and then fails."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    builder.thread().line(put(x, 1))
    body = builder.thread()
    here, there = body.at(), body.at()
    body.edge(here, there, guard=equals(x, 0), kind=Kind.ASSUME)
    body.edge(there, FINISHED, never(), kind=Kind.ASSERT)
    return builder.program()


def late_look() -> Program:
    """One thread sets x; another one fails if it finds it set."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    builder.thread().line(put(x, 1))
    body = builder.thread()
    here = body.at()
    body.edge(here, FINISHED, guard=equals(x, 0))
    body.edge(here, FINISHED, never(), guard=negate(equals(x, 0)), kind=Kind.ASSERT)
    return builder.program()


def last_write() -> Program:
    """x is 1 from the start; one thread sets it to 1, one to 2, and a third one fails if it finds 1
    after the other two."""
    builder = Builder()
    x, done = builder.shared("x", 0, 2, initial=1), builder.shared("done", 0, 2)
    for value in (1, 2):
        builder.thread().line(put(x, value), put(done, plus(done, 1)))
    body = builder.thread()
    here, there = body.at(), body.at()
    body.edge(here, there, guard=equals(done, 2), kind=Kind.ASSUME)
    body.edge(there, FINISHED, never(), guard=equals(x, 1), kind=Kind.ASSERT)
    body.edge(there, FINISHED, guard=negate(equals(x, 1)))
    return builder.program()


def two_readers() -> Program:
    """One thread writes x, one writes y and then reads x, one reads x: each read comes before or
    after the write, which makes 4 traces."""
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    builder.thread().line(put(x, 1))
    second = builder.thread()
    second.line(put(y, 1), put(second.local("seen", 0, 1), load(x)))
    third = builder.thread()
    third.line(put(third.local("seen", 0, 1), load(x)))
    return builder.program()


def choice_that_sleeps() -> Program:
    """`looks` fails only if both choices of `sets` are True, which wakes the other choice of
    `looks` alone."""
    return prepare(
        elaborate(
            """
from mazurka.model import Int, atomic, choose
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def looks():
    global y
    with atomic():
        if choose([False, True]):
            y = 1
        else:
            assert x == 0
def sets():
    global x, y
    with atomic():
        first = choose([False, True])
        if first:
            y = 1
    with atomic():
        if choose([False, True]) and first:
            x = 1
threads = [looks(), sets()]
""",
            "model.py",
        )
    )


def choice_made_later() -> Program:
    """`looks` fails only if it chooses True behind a step that its other choice does not touch."""
    return prepare(
        elaborate(
            """
from mazurka.model import Int, atomic, choose
x: Int[0, 1] = 0
def looks():
    with atomic():
        if choose([False, True]):
            assert x == 0
def sets():
    global x
    if choose([False, True]):
        x = 1
threads = [looks(), sets()]
""",
            "model.py",
        )
    )


def lost_update() -> Program:
    """R and W of one thread, r and w of another: 4! / (2! 2!) = 6 schedules; among the 4 that begin
    with both reads, these commute, and 2 traces are left: 4 in all."""
    builder = Builder()
    x = builder.shared("x", 0, 2)
    for _ in range(2):
        body = builder.thread()
        copy = body.local("copy", 0, 2)
        body.line(put(copy, load(x)), put(x, plus(copy, 1)))
    return builder.program()


def guard_cells(execution: IRExecution, thread: int) -> frozenset[int]:
    """What the guards at the thread's present location look at."""
    automaton = execution.program.threads[thread]
    location = execution.interpreter.location(execution.state, thread)
    footprints = execution.points[thread].footprints
    found: set[int] = set()
    for edge in automaton.edges_at(location):
        if edge.guard is not None:
            found |= set(footprints.loads(edge.guard))
    return frozenset(found)


def without_guards(self: IRExecution) -> dict[int, tuple[Action, ...]]:
    return {
        thread: tuple(
            replace(action, reads=action.reads - guard_cells(self, thread), watched=frozenset())
            for action in some
        )
        for thread, some in actions(self).items()
    }


def without_attempts(self: IRExecution) -> dict[int, tuple[Action, ...]]:
    return {
        thread: tuple(action for action in some if action.enabled)
        for thread, some in actions(self).items()
    }


def no_reversals(*_: object) -> Iterator[object]:
    return iter(())


def nothing_wakes(self: ScheduleSearch, by: Action) -> dict[Move, Action]:
    return dict(self.nodes[-1].sleep)


def only_own_reads(self: Views, thread: int, steps: list[tuple[Move, Step]]) -> tuple[int, ...]:
    return ()


def only_changes(self: Views, state: State, step: Step, writes: frozenset[object]) -> Effect:
    found = effect(self, state, step, writes)
    changes = tuple((a, value) for a, value in found.changes if state[a] != value)
    return replace(found, changes=changes)


@dataclass(frozen=True)
class Mutant:
    """What is changed, and a program that tells."""

    name: str
    changes: tuple[tuple[str, Any], ...]
    program: Callable[[], Program]
    strategies: Sequence[str] = ALL


PACKAGE = "mazurka.stateless"
REVERSALS = tuple(
    (f"{PACKAGE}.reduction.{module}.find_reversals", no_reversals)
    for module in ("dpor", "optimal_dpor")
)
CHOICES = tuple(
    (f"{PACKAGE}.reduction.{module}.find_other_choices", no_reversals)
    for module in ("dpor", "optimal_dpor")
)

UNSOUND = [
    Mutant("dependence without guard reads",
           ((f"{PACKAGE}.models.execution.IRExecution.actions", without_guards),),
           look_twice),
    Mutant("attempts read nothing",
           ((f"{PACKAGE}.models.execution.IRExecution.actions", without_attempts),),
           early_wait, RACING),
    Mutant("race reversal forgotten", REVERSALS, crossed_locks, RACING),
    Mutant("other choices are made at once or never", CHOICES, choice_that_sleeps,
           ("dpor", "source-dpor")),
    Mutant("other choices are made at once or never, as sequences", CHOICES, choice_made_later,
           ("optimal-dpor",)),
    Mutant("sleep set not woken by a dependent action",
           ((f"{PACKAGE}.reduction.sleep_sets.ScheduleSearch.still_asleep", nothing_wakes),),
           look_twice),
    Mutant("views ignore what a step reads",
           ((f"{PACKAGE}.models.views.Views.read_from_others", only_own_reads),),
           late_look),
    Mutant("a write that changes nothing is left out of an effect",
           ((f"{PACKAGE}.models.views.Views.effect", only_changes),),
           last_write),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mutant", "strategy"),
    [(mutant, name) for mutant in UNSOUND for name in mutant.strategies],
    ids=lambda value: value.name if isinstance(value, Mutant) else value,
)
def test_unsound_mutant_loses_a_violation(
    monkeypatch: pytest.MonkeyPatch, mutant: Mutant, strategy: str
) -> None:
    assert run(strategy, mutant.program()).violation is not None
    for place, replacement in mutant.changes:
        monkeypatch.setattr(place, replacement)
    found = run(strategy, mutant.program())
    assert (found.violation, found.limits) == (None, ())


def test_backtrack_points_of_the_paper_lose_a_trace_with_sleep_sets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("dpor", two_readers()).statistics.executions == 4
    reduction = f"{PACKAGE}.reduction.dpor.SleepingReduction.look_back"
    monkeypatch.setattr(reduction, DynamicReduction.look_back)
    assert run("dpor", two_readers()).statistics.executions == 3


@pytest.mark.parametrize(
    ("strategy", "module"),
    [("sleep-sets", "sleep_sets.SleepSets"), ("source-dpor", "source_dpor.SourceSets"),
     ("dpor", "dpor.SleepingReduction")],
)  # fmt: skip
def test_wasteful_without_sleep_sets(
    monkeypatch: pytest.MonkeyPatch, strategy: str, module: str
) -> None:
    assert run(strategy, lost_update()).statistics.executions == 4
    monkeypatch.setattr(f"{PACKAGE}.reduction.{module}.uses_sleep_sets", False)
    assert run(strategy, lost_update()).statistics.executions == 6


def waits_or_fails() -> Simulated:
    """One thread takes a lock and keeps it; another one needs it for a moment."""

    def setter(world: World) -> Body:
        yield world.acquire("m")

    def other(world: World) -> Body:
        yield world.acquire("m")
        yield world.write("x", 1)
        yield world.release("m")

    return Simulated([setter, other])


def starts_first() -> Simulated:
    """A thread starts another one, and both write x: 2 orders."""

    def started(world: World) -> Body:
        yield world.write("x", 1)

    def body(world: World) -> Body:
        yield world.start(started)
        yield world.write("x", 2)

    return Simulated([body])


@pytest.mark.parametrize("search", REDUCTIONS.values())
def test_recorded_attempts_read_what_they_wait_for(
    monkeypatch: pytest.MonkeyPatch, search: type[ScheduleSearch]
) -> None:
    """The second thread never gets the lock if the first one comes first: 2 executions."""
    options = RunOptions(stop_at_first=False)
    assert search(waits_or_fails(), options).run().executions == 2
    attempt = RecordedForesight._attempt

    def reads_nothing(self: Any, thread: int, reads: object, life: object) -> Any:
        return attempt(self, thread, frozenset(), None)

    monkeypatch.setattr(RecordedForesight, "_attempt", reads_nothing)
    if search is SleepSets:
        return  # it explores everything anyway
    assert search(waits_or_fails(), options).run().executions == 1


@pytest.mark.parametrize("search", REDUCTIONS.values())
def test_recorded_threads_come_after_their_creation(search: type[ScheduleSearch]) -> None:
    options = RunOptions(stop_at_first=False)
    assert search(starts_first(), options).run().executions == 2
