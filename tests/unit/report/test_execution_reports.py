"""What is said about searches that count executions, beside those that count states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mazurka.report.comparison import print_comparison
from mazurka.report.observer import progress_text
from mazurka.report.summary import Summary
from mazurka.report.verdict import Verdict, scope_sentence
from mazurka.search import Statistics
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.search.request import CheckOptions

RAN = Statistics(
    transitions=810, depth=18, seconds=0.25, executions=90, partial_orders=90
)  # fmt: skip
ENDLESS = "some execution never ends (m.py:3 repeats)"


def verdict_of(strategy: str, statistics: Statistics = RAN, **changes: object) -> Verdict:
    base = Verdict(
        input="m.py",
        verdict="holds",
        properties=("assert",),
        strategy=strategy,
        order="dfs",
        statistics=statistics,
    )
    return replace(base, **changes)


FULL = verdict_of("full", Statistics(states=1000, transitions=3000, seconds=0.1, table_bytes=9000))


def scope(verdict: str, executions: int, limits: tuple[str, ...] = ()) -> str:
    counts = replace(RAN, executions=executions)
    sentence = scope_sentence(verdict, ("deadlock",), counts, limits, "dpor")
    return sentence.removeprefix("deadlocks, and range, index and lock errors: ")


def test_scope_of_executions():
    assert scope("holds", 90) == (
        "90 executions run to their end, and every other differs from one of these only in the"
        " order of independent steps (reduced by dpor)"
    )
    assert scope("holds", 1) == (
        "1 execution run to its end, and every other differs from it only in the order of"
        " independent steps (reduced by dpor)"
    )
    assert scope("violated", 2) == "2 executions run to their end (reduced by dpor)"
    assert scope("inconclusive", 0, (ENDLESS,)) == (
        "0 executions run to their end (reduced by dpor), others were not"
    )


def test_scope_without_a_reduction():
    def scope_of(**counts: int) -> str:
        return scope_sentence("holds", (), Statistics(**counts), ()).partition(": ")[2]

    assert scope_of(executions=90) == "all 90 executions examined"
    assert scope_of(executions=1) == "the only execution examined"
    assert scope_of(states=1_000) == "all 1,000 reachable states examined"
    assert scope_of(states=1) == "the only reachable state examined"


def test_a_declaration_tells_what_is_a_reduction():
    others = {name for name in strategy_names() if not load_strategy(name).reduces}
    assert others == {"full", "bdd"}  # both visit all reachable states


def test_json_has_executions_in_place_of_states():
    answer = verdict_of("dpor").to_json()
    assert answer["stats"] == {
        "executions": 90,
        "partial_orders": 90,
        "transitions": 810,
        "depth": 18,
        "seconds": 0.25,
        "rounds": 1,
        "total_seconds": 0.25,
    }
    assert answer["rounds"] == [
        {
            "executions": 90,
            "partial_orders": 90,
            "transitions": 810,
            "seconds": 0.25,
            "reason": None,
        }
    ]


def test_json_has_no_executions_where_states_are_stored():
    stats = FULL.to_json()["stats"]
    assert isinstance(stats, dict)
    assert {"states", "states_per_second", "peak_bytes", "bytes_per_state"} <= set(stats)
    assert not {"executions", "partial_orders"} & set(stats)


def test_statistics_line(printed):
    out = printed(lambda console: Summary(console, verdict_of("dpor")).print())
    assert "90 executions  810 transitions  0.25 s  strategy dpor\n" in out
    assert "states" not in out


def test_no_classification_is_the_strategys_doing(printed):
    shown = Summary
    out = printed(lambda console: shown(console, verdict_of("dpor"), classification=True).print())
    assert out.endswith("strategy dpor does not classify data\n")


def test_progress():
    assert progress_text(RAN) == "90 executions  810 transitions  depth 18  0.2 s"


@pytest.fixture
def table(printed):
    def run(*verdicts: Verdict, width: int = 120) -> list[list[str]]:
        out = printed(
            lambda console: print_comparison(console, "m.py", ("assert",), verdicts, ()),
            width=width,
        )
        return [line.split() for line in out.splitlines()[2:]]

    return run


def test_figures_that_mean_nothing_are_dashes(table):
    heading, full, dpor, _ = table(FULL, verdict_of("dpor"))
    assert heading == [
        "strategy", "verdict", "states", "of", "full", "executions", "transitions", "seconds",
        "states/s", "memory", "bytes/state",
    ]  # fmt: skip
    assert full[:6] == ["full", "holds", "1,000", "100%", "-", "3,000"]
    assert dpor == ["dpor", "holds", "-", "-", "90", "810", "0.250", "-", "-", "-"]


def test_without_stored_states_there_are_no_columns_for_them(table):
    heading, *_ = table(verdict_of("dpor"), verdict_of("sleep-sets"))
    assert heading == ["strategy", "verdict", "executions", "transitions", "seconds"]


@pytest.mark.parametrize("width", [80, 100])
def test_executions_stay_in_a_narrow_table(table, width):
    rows = table(FULL, verdict_of("optimal-dpor"), width=width)
    assert "executions" in rows[0]
    assert "states" in rows[0]


def test_strategies_that_met_the_same_limit_share_a_remark(printed):
    cut = {"verdict": "inconclusive", "limits": (ENDLESS,)}
    late = {
        "verdict": "inconclusive",
        "limits": ("time",),
        "asked": CheckOptions(limit_seconds=10.0),
    }
    verdicts = (
        verdict_of("dpor", **cut),
        verdict_of("source-dpor", **cut),
        verdict_of("sleep-sets", **late),
    )
    out = printed(lambda console: print_comparison(console, "m.py", ("assert",), verdicts, ()))
    assert f"dpor, source-dpor: {ENDLESS}\n" in out
    assert "sleep-sets: time limit of 10 s (--limit-time sets another)\n" in out


def test_a_violation_before_anything_was_examined_as_a_whole() -> None:
    def told(unrolled: int) -> str:
        counts = Statistics(unrolled=unrolled, unrolled_unit="iteration")
        return scope_sentence("violated", ("deadlock",), counts, (), "events").partition(": ")[2]

    assert told(2) == "all executions of up to 2 iterations examined (reduced by events)"
    assert told(0) == "some executions examined (reduced by events)"
