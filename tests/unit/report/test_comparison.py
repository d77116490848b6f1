"""The table of `mazurka compare`: what it says at each width, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mazurka.report.answer import Finding
from mazurka.report.comparison import print_comparison
from mazurka.report.verdict import Verdict
from mazurka.search import Round, Statistics


def verdict_of(strategy: str, states: int, **changes: object) -> Verdict:
    base = Verdict(
        input="m.py",
        verdict="holds",
        properties=("assert",),
        strategy=strategy,
        statistics=Statistics(
            states=states, transitions=3 * states, seconds=0.5, table_bytes=14 * states,
            peak_bytes=20 * states,
        ),
    )  # fmt: skip
    return replace(base, **changes)


EARLIER = Round(Statistics(states=1, seconds=0.25), "`x` is unprotected")
SIX = (
    verdict_of("full", 1_000_000),
    verdict_of("cpc", 250_000, rounds=(EARLIER,)),
    verdict_of("cpc-strict", 300_000, rounds=(EARLIER,)),
    verdict_of("cycle-detection", 999_900, rounds=(EARLIER,)),
    verdict_of("optimistic", 1_500_000, rounds=(EARLIER,)),
    verdict_of("transactions", 10, verdict="inconclusive", limits=("unsound-strategy",)),
)


@pytest.fixture
def shown(printed):
    def run(verdicts, width=120, left_out=(), properties=("assert",)):
        return printed(
            lambda console: print_comparison(console, "m.py", properties, verdicts, left_out),
            width=width,
        )

    return run


def row(out: str, strategy: str) -> list[str]:
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [strategy])


def test_a_wide_table_has_everything(shown):
    out = shown(SIX)
    heading = next(line for line in out.splitlines() if line.startswith("strategy"))
    assert heading.split() == [
        "strategy", "verdict", "states", "of", "full", "transitions", "seconds", "states/s",
        "memory", "bytes/state", "rounds",
    ]  # fmt: skip
    assert row(out, "cpc") == [
        "cpc", "holds", "250,000", "25.0%", "750,000", "0.750", "500,000", "5", "MB", "14.0", "2",
    ]  # fmt: skip


def test_states_are_compared_with_the_full_search(shown):
    out = shown(SIX)
    shares = {name: row(out, name)[3] for name in ("full", "cpc-strict", "optimistic")}
    assert shares == {"full": "100%", "cpc-strict": "30.0%", "optimistic": "150%"}
    # 999,900 of 1,000,000 is 99.99 %: one decimal would say no more
    assert row(out, "cycle-detection")[3] == "100%"


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_it_fits(shown, width):
    out = shown(SIX, width)
    assert max(map(len, out.splitlines())) <= width
    assert "…" not in out
    assert row(out, "optimistic")[2] == "1,500,000"


def test_a_narrow_table_keeps_what_matters(shown):
    out = shown(SIX, 80)
    heading = next(line for line in out.splitlines() if line.startswith("strategy"))
    assert heading.split() == [
        "strategy", "verdict", "states", "of", "full", "transitions", "seconds", "memory",
    ]  # fmt: skip


def test_the_columns_do_not_depend_on_the_clock(shown):
    slow = [replace(v, statistics=replace(v.statistics, seconds=123.456)) for v in SIX]
    for width in (80, 100, 110, 120):
        one, other = (
            next(line for line in shown(rows, width).splitlines() if line.startswith("strategy"))
            for rows in (SIX, slow)
        )
        assert one.split() == other.split()


def test_what_the_figures_mean_is_said(shown):
    out = shown(SIX)
    assert "states and transitions: the last round; seconds: all rounds together" in out
    assert "transactions is unsound by design: what it does not find may still be there" in out
    assert row(out, "transactions")[1] == "inconclusive"


def test_nothing_is_said_of_rounds_where_there_are_none(shown):
    assert "round" not in shown(SIX[:1])
    assert "of full" not in shown(SIX[:1])


def test_a_search_that_was_cut_short_has_no_share(shown):
    cut = verdict_of("cpc", 77, verdict="inconclusive", limits=("time",))
    out = shown([SIX[0], cut])
    assert row(out, "cpc")[:4] == ["cpc", "inconclusive", "77", "231"]
    assert "cpc: time limit" in out
    whole = verdict_of("full", 77, verdict="inconclusive", limits=("memory",))
    assert "of full" not in shown([whole, SIX[1]])


def test_violations_and_bounds(shown):
    found = Finding("deadlock", "no thread can move", "", 0)
    bound = "more than 8 threads run f (--max-threads)"
    out = shown(
        [
            verdict_of("full", 9, verdict="violated", violation=found),
            verdict_of("cpc", 3, verdict="inconclusive", limits=(bound,)),
        ],
        width=80,
        left_out=[("optimistic", "it does not keep races")],
    )
    assert row(out, "full")[1:3] == ["violated:", "deadlock"]
    assert f"cpc: {bound}" in out
    # a bound does not cut a search short: its counts are worth comparing
    assert row(out, "cpc")[3] == "33.3%"
    assert "left out: optimistic: it does not keep races" in out


@pytest.mark.parametrize(
    ("properties", "said"), [(("assert",), True), (("race",), False), (("deadlock",), False)]
)
def test_it_is_said_that_deadlocks_are_not_looked_for(shown, properties, said):
    text = shown([verdict_of("full", 3)], properties=properties)
    assert ("deadlocks are not looked for" in text) == said


def test_no_line_of_remarks_ends_in_a_space(shown):
    why = "does not preserve race; strategies that do: cpc, cpc-strict, cycle-detection, full"
    left_out = [(name, why) for name in ("ample", "cartesian", "lock-patterns", "stubborn")]
    for width in range(40, 80):
        lines = shown([verdict_of("full", 3)], width, left_out).splitlines()
        remarks = lines[[line.startswith("left out") for line in lines].index(True) :]
        assert [line for line in remarks if line.endswith(" ")] == []


def test_notes_stand_below_the_table(shown):
    noted = [
        verdict_of("full", 10),
        verdict_of("cpc", 5, notes=("three rounds", "declared movers")),
        verdict_of("ample", 5, notes=("three rounds",)),
    ]
    below = shown(noted).splitlines()[-2:]
    assert below == ["cpc, ample: three rounds", "cpc: declared movers"]


HANG = Finding("hang", "threads go round", "m.py", 1)


@pytest.mark.parametrize(
    ("verdicts", "line"),
    [
        (SIX[:2], "all 2 agree"),
        (SIX, "all 5 that have an answer agree; no answer: transactions"),
        (SIX[-2:], "no answer: transactions"),
        (
            (verdict_of("full", 5, verdict="violated", violation=HANG), SIX[1]),
            "all 2 agree",  # the other one has not looked for hangs
        ),
        (
            (
                verdict_of("full", 5, verdict="violated", violation=replace(HANG, kind="range")),
                SIX[1],
            ),
            "DISAGREEMENT: full says violated: range, cpc says holds; one of them is wrong:"
            " please report it",
        ),
    ],
)
def test_the_first_line_says_who_agrees(shown, verdicts, line):
    assert line in shown(verdicts).splitlines()
