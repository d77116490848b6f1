"""The benchmark of paper 003's table: what is measured, held against the paper, and printed.

That the numbers are the paper's is tested in `tests/papers`.  Nothing here depends on how long
anything takes.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from mazurka.bench import harness
from mazurka.bench.cartesian import (
    CASES,
    MODES,
    CartesianCase,
    CartesianTable,
    differing,
    equal,
    milliseconds,
    mode_to_json,
    published,
    saved,
    stopped,
)
from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Measured
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy


def table(**options: Any) -> CartesianTable:
    return CartesianTable(BenchOptions(**options))


def select(only: str, **options: Any) -> list[CartesianCase]:
    return table(only=only, **options).select()


(INDEXER,) = select("indexer-2")
REDUCED, OTHER = (Figures(states=1, transitions=n, seconds=0.001) for n in (8, 9))
MEASURED = Measured(
    case=INDEXER,
    figures={
        "standard": Figures(states=25, transitions=40, seconds=0.002),
        "table1": REDUCED,
        "default": REDUCED,
        "concurrent": REDUCED,
        "dpor": Figures(transitions=8, seconds=0.5),
    },
)
PAPERS = ["paper", "25", "40", "1", "8", "96", "80", "0", "0", "0"]
KEYS = {
    "row", "title", "constants", "mode", "states", "transitions", "seconds", "saved_percent",
    "paper", "equal", "limits",
}  # fmt: skip


def results(*rows: Measured[CartesianCase]) -> CartesianTable:
    return CartesianTable(rows=list(rows))


def rendered(shown: CartesianTable, width: int) -> list[str]:
    stream = io.StringIO()
    shown.print(make_console(stream, width=width))
    return stream.getvalue().splitlines()


def with_figures(**figures: Figures) -> Measured[CartesianCase]:
    return replace(MEASURED, figures={**MEASURED.figures, **figures})


def without_paper(case: CartesianCase, *modes: str) -> CartesianCase:
    paper = {mode: figures for mode, figures in case.paper.items() if mode not in modes}
    return replace(case, paper=paper)


# --- the paper's numbers --------------------------------------------------------------------------


def test_the_published_numbers_are_those_of_the_table() -> None:
    """The sums of the table's columns, so that a slip of the pen is noticed."""

    def sums(mode: str) -> list[int]:
        column = [case.paper[mode] for case in CASES if mode in case.paper]
        entries = [mode_to_json(replace(MEASURED, case=case), mode)["paper"] for case in CASES]
        papers = [paper for paper in entries if isinstance(paper, dict)]
        assert len(papers) == len(column)
        return [
            len(papers),
            *(
                sum(paper[what] for paper in papers)
                for what in ("states", "transitions", "milliseconds")
            ),
        ]

    assert sums("standard") == [28, 2_549_821, 14_996_848, 15_019_612]
    assert sums("table1") == [51, 120_755, 5_496_154, 508_999]
    assert sums("concurrent") == [51, 120_755, 5_496_154, 325_578]
    for case in CASES:
        if "table1" in case.paper:
            assert case.paper["table1"].counts == case.paper["concurrent"].counts


@pytest.mark.parametrize(
    ("name", "states", "transitions"),
    [
        ("shared-ptr", 98.7, 80.1),
        ("robots-3", 100.0, 99.3),
        ("indexer-4", 99.8, 99.2),
        ("philosophers-2", 18.2, -27.3),
        ("philosophers-9", 38.7, -21.0),
        ("cmis-2-8", 99.7, 98.6),
    ],
)
def test_the_papers_savings_follow_from_its_counts(
    name: str, states: float, transitions: float
) -> None:
    (case,) = select(name)
    assert saved(case.paper["standard"].counts, case.paper["table1"].counts) == {
        "states": states,
        "transitions": transitions,
    }


def test_how_many_states_there_are_at_least() -> None:
    """Threads that never meet can be in all combinations of places, and these are all there is."""
    for case in CASES:
        if "standard" in case.paper:
            states = case.paper["standard"].states or 0
            assert case.at_least <= states
            if case.group in ("file-system", "indexer"):
                assert case.at_least == states
    assert select("cmis-8-32")[0].at_least == 105**4
    assert select("cmis-127-255")[0].at_least == 6237**2 * 24381


# --- what differs is told -------------------------------------------------------------------------


def test_a_row_as_in_the_paper() -> None:
    assert [equal(MEASURED, mode) for mode in MODES] == [True, True, None, True, None]
    assert not differing(MEASURED)
    lines = rendered(results(MEASURED), 140)
    assert any(line.split() == PAPERS for line in lines)
    assert "1 rows; of 3 searches that can be held against the paper, 3 count the same" in lines[7]


@pytest.mark.parametrize("mode", ["standard", "table1"])
def test_a_figure_that_is_not_the_papers_is_marked(mode: str) -> None:
    case = replace(INDEXER, paper={**INDEXER.paper, mode: published(2, 8, 0)})
    (found,) = table(only="indexer-2").measure()
    wrong = replace(found, case=case)
    assert equal(wrong, mode) is False
    assert differing(wrong) == [mode]
    for width in (80, 140):
        text = " ".join(" ".join(rendered(results(wrong), width)).split())
        assert "differs from" in text
        assert "the paper has 2 states, 8 transitions." in text
    entries = [mode_to_json(wrong, name) for name in MODES]
    (marked,) = (entry for entry in entries if entry["equal"] is False)
    assert (marked["mode"], marked["paper"]) == (
        mode,
        {"states": 2, "transitions": 8, "milliseconds": 0},
    )


def test_workers_that_count_something_else_are_marked() -> None:
    """Also where the paper has no number: one worker has."""
    off = with_figures(concurrent=OTHER)
    assert equal(off, "concurrent") is False
    case = without_paper(INDEXER, "table1", "concurrent")
    alone = replace(off, case=case)
    assert differing(alone) == ["concurrent"]
    assert results(alone).wrong == [
        "Indexer (2 Threads), concurrent: 1 states, 9 transitions;"
        " one worker has 1 states, 8 transitions."
    ]
    assert equal(replace(MEASURED, case=case), "concurrent") is None


def test_the_exit_status_tells_of_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert results(with_figures(table1=OTHER, concurrent=OTHER)).publish(as_json=True) == 1
    printed = json.loads(capsys.readouterr().out)
    assert [entry["equal"] for entry in printed["results"]] == [True, False, None, False, None]


# --- limits ---------------------------------------------------------------------------------------


def test_a_search_that_is_stopped_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is below what one slice takes; what the paper could not search is then left out."""
    small, large = select("robots")
    rows = (large, replace(without_paper(small, "standard"), at_least=0))
    monkeypatch.setattr(CartesianTable, "cases", rows)
    found = table(limit_seconds=1e-9).measure()
    assert [measured["standard"].counts for measured in found] == [None, None]
    assert found[0]["standard"].limits == ("time",)
    assert equal(found[0], "standard") is None
    assert found[1]["standard"].limits == ("not tried: 3 Robots took too much",)
    lines = rendered(results(*found), 140)
    assert lines[4].split()[:4] == ["robots-3", ">60", "s", "-"]
    told = "3 Robots, standard: stopped by a limit; the paper has 326,759 states"
    assert any(line.startswith(told) for line in lines)


def test_hopeless_searches_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 200,000 states a second it would have 20 of 25."""
    monkeypatch.setattr(CartesianTable, "cases", (without_paper(INDEXER, "standard"),))
    (found,) = table(limit_seconds=1e-4).measure()
    reason = "not tried: there are at least 25 states"
    assert found["standard"] == Figures(limits=(reason,), states=25)
    assert mode_to_json(found, "standard")["states"] is None
    assert stopped(replace(found["standard"], states=9**17), 60.0) == ">=1.7e16"
    assert stopped(Figures(limits=("memory",)), 60.0) == "memory"
    assert stopped(Figures(limits=("an execution takes more than 9 steps",)), 60.0) == "too long"


def test_schedules_are_searched_where_executions_end() -> None:
    (robots,) = table(only="robots-2").measure()
    assert robots["dpor"].limits == ("not tried: its executions do not end",)
    (array,) = table(only="shared-array").measure()
    assert array["dpor"].transitions is not None
    assert mode_to_json(array, "dpor")["paper"] == {
        "states": None, "transitions": None, "milliseconds": None, "transitions_above": 10**7,
    }  # fmt: skip
    assert ">10,000,000" in "\n".join(rendered(results(array), 80))
    assert equal(array, "dpor") is None


@pytest.mark.parametrize("name", ["robots-2", "philosophers-2"])
def test_what_is_left_out_has_executions_that_do_not_end(name: str) -> None:
    (case,) = select(name)
    program = case.load(case.constants)
    result = load_strategy("dpor").run(program, SearchOptions(), Silent())
    assert result.limits
    assert "never ends" in result.limits[0]


# --- what is printed ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_table_fits(width: int) -> None:
    """One table where there is room, else the counts first and the rest below."""
    rows = [replace(MEASURED, case=case) for case in CASES]
    large = Figures(states=99_999_999, transitions=999_999_999, seconds=59.9)
    rows.append(replace(rows[-1], figures={**MEASURED.figures, "standard": large}))
    lines = rendered(results(*rows), width)
    assert max(map(len, lines)) <= width
    starts = [line for line in lines if line.startswith("cmis-127-255 ")]
    assert len(starts) == (2 if width == 140 else 4)
    assert sum("…" in line for line in lines) == 0


def test_how_times_are_written() -> None:
    assert [milliseconds(s) for s in (0.00012, 0.0099, 0.01, 12.3456)] == [
        "0.1", "9.9", "10", "12,346",
    ]  # fmt: skip


def test_the_json_has_every_row_and_mode(capsys: pytest.CaptureFixture[str]) -> None:
    measured = table(quick=True, only="philosophers", repeat=2, workers=3)
    assert measured.run(as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {
        name: value for name, value in printed.items() if name not in ("results", "version")
    } == {
        "tool": "mazurka",
        "benchmark": "cartesian",
        "quick": True,
        "repeat": 2,
        "workers": 3,
        "limit_seconds": 60.0,
        "dpor_limit_seconds": 10.0,
        "interrupted": False,
    }
    entries = printed["results"]
    assert [(entry["row"], entry["mode"]) for entry in entries] == [
        (f"philosophers-{number}", mode) for number in range(2, 9) for mode in MODES
    ]
    assert all(set(entry) == KEYS for entry in entries)
    assert entries[1] == {
        **entries[1],
        "title": "2 Philosophers",
        "constants": {"N": 2},
        "states": 9,
        "transitions": 28,
        "saved_percent": {"states": 18.2, "transitions": -27.3},
        "paper": {"states": 9, "transitions": 28, "milliseconds": 0},
        "equal": True,
        "limits": [],
    }
    assert all(entry["equal"] for entry in entries if entry["mode"] in ("standard", "concurrent"))


def test_what_was_measured_before_an_interruption_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[str] = []

    def announce(text: str) -> None:
        begun.append(text)
        if len(begun) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(harness, "announce", announce)
    assert table(only="indexer").run() == 3
    printed = capsys.readouterr().out
    assert begun[1] == "Indexer (2 Threads) (2 of 16) ..."
    assert "indexer-1 " in printed
    assert "indexer-2 " not in printed
    assert "Interrupted" in printed


def test_an_interruption_at_once_leaves_nothing_to_print() -> None:
    def announce(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table().measure(announce)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"only": "sudoku"}, "unknown row 'sudoku' for --only; there are: shared-ptr, "),
        ({"order": "bfs"}, "order 'bfs'"),
        ({"repeat": 0}, "--repeat 0"),
        ({"workers": 0}, "--workers must be at least 1"),
        ({"limit_seconds": 0.0}, "greater than 0"),
        ({"limit_seconds": float("nan")}, "greater than 0"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        table(**options).measure()


def test_rows_are_named_as_in_the_table_or_shorter() -> None:
    assert select("File System (3 Threads)") == select("file_system_3") == select("file-system-3")
    assert len(select("file_system")) == 17
    assert [row.name for row in select("indexer", quick=True)] == [
        f"indexer-{threads}" for threads in range(1, 7)
    ]
    assert [row.name for row in select("indexer-16", quick=True)] == ["indexer-16"]
