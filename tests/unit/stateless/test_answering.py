"""Schedule searches as strategies: what they answer to which options."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, crossed_locks, modular_counters, put
from tests.unit.stateless.schedule_programs import critical_sections, read_modify_write

from mazurka.errors import InternalError
from mazurka.ir.expressions import Binary, Const, Load
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Program
from mazurka.search import SearchOptions, SearchResult, Silent, Statistics, Strategy
from mazurka.search.registry import load_strategy
from mazurka.stateless import answering
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.actions import Move

NAMES = ("sleep-sets", "dpor", "source-dpor", "optimal-dpor")

every = pytest.mark.parametrize("name", NAMES)


def answer(name: str, program: Program, **options: object) -> SearchResult:
    wanted = SearchOptions(**options)  # type: ignore[arg-type]
    return load_strategy(name).run(program, wanted, Silent())


@every
def test_what_a_strategy_says_of_itself(name: str) -> None:
    strategy: Strategy = load_strategy(name)
    assert strategy.name == name
    assert strategy.preserves == {"assert", "deadlock", "race"}
    assert strategy.over_schedules
    assert strategy.orders == ("dfs",)


@every
def test_statistics_count_executions_and_no_states(name: str) -> None:
    result = answer(name, critical_sections(3, 2))
    counts = result.statistics
    assert (counts.executions, counts.partial_orders, counts.states) == (90, 90, 0)
    assert counts.depth == 3 * 2 * 3
    assert result.limits == ()
    assert result.violation is None


@every
def test_a_deadlock_is_a_violation_only_if_asked_for(name: str) -> None:
    found = answer(name, crossed_locks())
    assert found.violation is not None
    assert found.violation.kind == "deadlock"
    unasked = answer(name, crossed_locks(), properties=frozenset({"assert"}))
    assert (unasked.violation, unasked.limits) == (None, ())
    assert unasked.statistics.executions == 3


def fails_then_range_error() -> Program:
    """Thread 0 sets x and fails an assertion; thread 1 leaves a range if x is set."""
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    body = builder.thread()
    never = Check(Const(0), Fault.ASSERT, "never")
    body.edge(body.at(), FINISHED, put(x, 1), never, kind=Kind.ASSERT)
    other = builder.thread()
    start = other.at()
    twice = put(y, Binary("mul", Const(2), Load(Const(x))))
    other.edge(start, FINISHED, twice, kind=Kind.LOCAL)
    return builder.program()


@every
def test_runs_go_on_after_an_assertion_nobody_asks_for(name: str) -> None:
    result = answer(name, fails_then_range_error(), properties=frozenset({"deadlock"}))
    assert result.violation is not None
    assert result.violation.kind == "range"
    assert [move.thread for move in result.violation.path] == [0, 1]


@every
def test_all_executions_are_run_after_a_violation_if_wanted(name: str) -> None:
    first = answer(name, crossed_locks()).statistics
    everything = answer(name, crossed_locks(), stop_at_first=False)
    assert everything.statistics.executions == 3
    assert first.executions is not None
    assert first.executions < 3
    assert everything.violation is not None


@every
def test_an_endless_execution_is_a_limit(name: str) -> None:
    result = answer(name, modular_counters(2, 3))
    assert result.violation is None
    (limit,) = result.limits
    assert "some execution never ends" in limit
    assert "--strategy auto" in limit


@every
def test_time(name: str) -> None:
    assert answer(name, read_modify_write(2, 2), limit_seconds=1e-9).limits == ("time",)


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.stateless.answering.PULSE_SECONDS", 0.0)
    taken = iter(range(0, 10**9, 1000))
    monkeypatch.setattr(answering, "resident_bytes", lambda: next(taken))
    result = answer("optimal-dpor", read_modify_write(2, 2), limit_bytes=10_000)
    assert result.limits == ("memory",)
    assert 0 < result.statistics.transitions < 15


def test_an_interrupted_search_has_counted_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    step = IRExecution.step

    def interrupted(self: IRExecution, move: Move) -> object:
        if len(self.states) == 5:
            raise KeyboardInterrupt
        return step(self, move)

    monkeypatch.setattr(IRExecution, "step", interrupted)
    result = answer("optimal-dpor", critical_sections(2, 1))
    assert result.limits == ("interrupted",)
    assert result.statistics.transitions == 4


def test_observers_hear_of_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.stateless.answering.PULSE_SECONDS", 0.0)
    heard: list[Statistics] = []

    class Listening(Silent):
        def progress(self, statistics: Statistics) -> None:
            heard.append(statistics)

    load_strategy("dpor").run(critical_sections(2, 1), SearchOptions(), Listening())
    assert {statistics.executions for statistics in heard} == {0, 1, 2}


@every
def test_self_check_repeats_the_search_without_views(name: str) -> None:
    result = answer(name, critical_sections(2, 2), self_check=True)
    assert result.notes == ("self-check: the interpreter's search of 6 executions agrees",)


def test_self_check_notices_a_wrong_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views that forget to look at what others write."""
    monkeypatch.setattr(
        "mazurka.stateless.models.views.Views.read_from_others", lambda self, thread, steps: ()
    )
    with pytest.raises(InternalError, match="self-check"):
        answer("optimal-dpor", critical_sections(2, 2), self_check=True)
