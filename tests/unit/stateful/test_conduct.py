"""The books of a search: limits, interruptions, bounds, and findings that nobody confirms."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from searching import MEMORY, ORDERS, search
from tests.unit.ir.programs import Builder, crossed_locks, lost_update, modular_counters

from mazurka.errors import InternalError
from mazurka.ir.expressions import Const
from mazurka.ir.interpreter import Interpreter, Step
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import FINISHED, Check, Fault, Program
from mazurka.search import Move, SearchOptions, Silent, Statistics
from mazurka.stateful.searches import conduct
from mazurka.stateful.searches.conduct import FIRST_SLICE, SLICE_TRANSITIONS, Conductor
from mazurka.stateful.strategies.full import run


def conductor(program: Program, **options: object) -> Conductor:
    chosen = SearchOptions(**{"limit_bytes": MEMORY, **options})  # type: ignore[arg-type]
    return Conductor(NativeProgram(program), chosen, Silent())


def initial_words(found: Conductor) -> list[int]:
    layout = found.native.layout
    return list(layout.pack(layout.program.initial_state()))


def count_states(found: Conductor, states: int) -> None:
    found.count(Statistics(states=states), other_bytes=0)


class Interrupting(Silent):
    """Presses Ctrl-C when it is told of progress for the n-th time."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.seen: list[Statistics] = []

    def progress(self, statistics: Statistics) -> None:
        self.seen.append(statistics)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def failing(*messages: str, fault: Fault = Fault.BOUND) -> Program:
    """A thread for each message, which fails with it at once."""
    builder = Builder()
    for message in messages:
        body = builder.thread()
        body.edge(body.at(), FINISHED, Check(Const(0), fault, message))
    return builder.program()


def test_slices_grow_until_they_are_whole() -> None:
    budgets: list[int] = []

    def one_slice(budget: int) -> bool:
        budgets.append(budget)
        return len(budgets) == 9

    result = conductor(lost_update()).run(one_slice)
    # 2^12, 2^13, ... 2^18, and no longer than that
    assert budgets == [2**power for power in (12, 13, 14, 15, 16, 17, 18, 18, 18)]
    assert (budgets[0], budgets[-1]) == (FIRST_SLICE, SLICE_TRANSITIONS)
    assert result.limits == ()


def test_a_time_limit_ends_the_search_after_a_slice() -> None:
    slices: list[int] = []

    def endless(budget: int) -> bool:
        slices.append(budget)
        return len(slices) > 100

    result = conductor(lost_update(), limit_seconds=0.0).run(endless)
    assert (result.limits, len(slices)) == (("time",), 1)
    slices.clear()
    assert conductor(lost_update(), limit_seconds=3600.0).run(endless).limits == ()
    assert len(slices) == 101


@pytest.mark.parametrize("most", [1, FIRST_SLICE, 3 * FIRST_SLICE])
def test_a_limit_of_transitions_is_not_passed_by_a_slice(most: int) -> None:
    options = SearchOptions(limit_bytes=MEMORY, limit_transitions=most)
    result = run(modular_counters(4, 16), options, Silent())
    assert result.limits == ("transitions",)
    assert most <= result.statistics.transitions < most + 8


def test_a_search_that_ends_in_time_has_met_no_limit() -> None:
    assert conductor(lost_update(), limit_seconds=0.0).run(lambda _: True).limits == ()


@pytest.mark.parametrize(("other_bytes", "limits"), [(50, ()), (51, ("memory",))])
def test_the_memory_limit_counts_table_and_everything_else(
    other_bytes: int, limits: tuple[str, ...]
) -> None:
    found = conductor(lost_update(), limit_bytes=100)
    slices = iter((False, True))

    def one_slice(_: int) -> bool:
        found.count(Statistics(states=1, table_bytes=50), other_bytes=other_bytes)
        return next(slices)

    assert found.run(one_slice).limits == limits


def test_the_peak_never_falls() -> None:
    found = conductor(lost_update())
    for table, other, peak in ((10, 5, 0), (3, 3, 40), (4, 4, 0)):
        counted = Statistics(states=1, table_bytes=table, peak_bytes=peak)
        found.count(counted, other_bytes=other)
    assert found.statistics.peak_bytes == 40
    assert found.statistics.table_bytes == 4


@pytest.mark.parametrize("order", ORDERS)
def test_an_interruption_keeps_the_counts_so_far(order: str) -> None:
    observer = Interrupting(2)
    program = modular_counters(5, 11)
    result = run(program, SearchOptions(order=order, limit_bytes=MEMORY), observer)
    assert result.limits == ("interrupted",)
    assert result.violation is None
    assert 0 < result.statistics.states == observer.seen[-1].states < 11**5
    assert result.statistics.transitions > 0


def test_an_interruption_in_the_middle_of_a_slice() -> None:
    found = conductor(lost_update())

    def one_slice(_: int) -> bool:
        count_states(found, found.statistics.states + 10)
        if found.statistics.states == 30:
            raise KeyboardInterrupt
        return False

    result = found.run(one_slice)
    assert (result.limits, result.statistics.states) == (("interrupted",), 30)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("whole", [False, True])
def test_bounds_are_told_once_each_and_end_nothing(order: str, whole: bool) -> None:
    """Two threads meet the same bound in many states, a third meets another."""
    result = search(failing("queue", "queue", "stack"), order, whole=whole)
    assert result.violation is None
    assert sorted(result.limits) == ["queue", "stack"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_violation_is_found_beside_a_bound(order: str) -> None:
    builder = Builder()
    for fault in (Fault.BOUND, Fault.ASSERT):
        body = builder.thread()
        body.edge(body.at(), FINISHED, Check(Const(0), fault, "message"))
    result = search(builder.program(), order)
    assert result.violation is not None
    assert result.violation.kind == "assert"


@pytest.mark.parametrize(
    ("finding", "message"),
    [
        (lambda c, w: c.confirm_fault(w, Move(0), tuple), "a fault in the native code"),
        (lambda c, w: c.examine_stuck(w, tuple), "nobody moves in the native code"),
        (lambda c, w: c.confirm_race(w, tuple), "a race in the native code"),
    ],
)
def test_what_the_interpreter_does_not_see_is_an_internal_error(
    finding: Callable[[Conductor, list[int]], bool], message: str
) -> None:
    """In the initial state of two crossed locks everything is still well."""
    found = conductor(crossed_locks())
    with pytest.raises(InternalError, match=message):
        finding(found, initial_words(found))
    assert found.violation is None
    assert found.pending is None


@pytest.mark.parametrize("order", ORDERS)
def test_a_native_fault_that_the_interpreter_denies_gives_no_verdict(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = failing("x", fault=Fault.ASSERT)
    honest = Interpreter(modular_counters(1, 2))
    harmless = honest.step(honest.program.initial_state(), 0)

    def deny(self: Interpreter, state: object, thread: int, choice: int = 0) -> Step:
        return harmless

    monkeypatch.setattr(Interpreter, "step", deny)
    with pytest.raises(InternalError, match="a fault in the native code is none"):
        search(program, order)


@pytest.mark.parametrize("order", ORDERS)
def test_a_native_race_that_the_interpreter_denies_gives_no_verdict(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conduct, "races_between", lambda program, moved: [])
    with pytest.raises(InternalError, match="a race in the native code is none"):
        search(lost_update(), order, "race")


def test_the_schedule_is_read_when_the_search_is_over() -> None:
    found = conductor(failing("x", fault=Fault.ASSERT))
    asked: list[str] = []

    def path() -> tuple[Move, ...]:
        asked.append("path")
        return ()

    assert found.confirm_fault(initial_words(found), Move(0), path)
    assert asked == []
    result = found.run(lambda _: True)
    assert asked == ["path"]
    assert result.violation is not None
    assert (result.violation.kind, result.violation.path) == ("assert", (Move(0),))


def test_a_search_of_everything_keeps_the_first_violation() -> None:
    found = conductor(failing("x", "y", fault=Fault.ASSERT), stop_at_first=False)
    assert not found.confirm_fault(initial_words(found), Move(1), tuple)
    assert not found.confirm_fault(initial_words(found), Move(0), tuple)
    result = found.run(lambda _: True)
    assert result.violation is not None
    assert result.violation.path == (Move(1),)
