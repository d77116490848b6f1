"""Paper 002's table: three granularities of four programs, ratios, limits, and what is printed."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from mazurka.bench import optimistic
from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Measured, times
from mazurka.bench.optimistic import CASES, OptimisticCase, OptimisticTable, ratio_to_reduced
from mazurka.checking import check_file
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console
from mazurka.search import Silent
from mazurka.search.reading import Reading
from mazurka.search.request import CheckOptions

FULL = Figures(states=900, transitions=2000, table_bytes=9000, seconds=1.0)
STOPPED = replace(FULL, limits=("time",))
CLEAN, XTANGO_DP = CASES[1:3]
ROW = Measured(
    case=CLEAN,
    constants={"SIZE": 2},
    figures={
        "instruction": FULL,
        "line": replace(FULL, states=300, table_bytes=4500),
        "reduced": replace(FULL, states=30, table_bytes=3000, rounds=1, earlier_states=7),
    },
)
NAMES = [case.name for case in CASES]


def table(**options: Any) -> OptimisticTable:
    return OptimisticTable(BenchOptions(**options))


def with_figures(**figures: Figures) -> Measured[OptimisticCase]:
    return replace(ROW, figures={**ROW.figures, **figures})


def rendered(*rows: Measured[OptimisticCase]) -> list[list[str]]:
    """The words of each printed line."""
    stream = io.StringIO()
    OptimisticTable(rows=list(rows)).print(make_console(stream, width=100))
    return [line.split() for line in stream.getvalue().splitlines()]


@pytest.fixture
def unreduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what does not depend on the reduction."""
    monkeypatch.setattr(optimistic, "REDUCTION", "full")


def reading(constants: Mapping[str, int], granularity: str | None) -> Reading:
    definitions = {name: str(value) for name, value in constants.items()}
    return Reading(definitions=definitions, granularity=granularity)


@pytest.mark.usefixtures("unreduced")
@pytest.mark.parametrize("name", NAMES)
def test_the_columns_are_what_check_counts(name: str) -> None:
    (row,) = table(quick=True, only=name).measure()
    searches = {"instruction": row["instruction"], "line": row["line"], None: row["reduced"]}
    for granularity, search in searches.items():
        read = reading(row.case.quick, granularity)
        options = CheckOptions(strategy="full", reading=read, symmetry=False)
        verdict = check_file(str(row.case.path), options, Silent())
        assert verdict.verdict == "holds"
        assert verdict.statistics is not None
        assert search.complete
        assert search.states == verdict.statistics.states


@pytest.mark.parametrize("name", NAMES)
def test_coarser_steps_have_fewer_states(name: str) -> None:
    """A line is several instructions; the reduction stops at few accesses, if at any."""
    measured = table(quick=True, only=name)
    (row,) = measured.measure()
    states = {column: figures.states or 0 for column, figures in row.figures.items()}
    assert states["reduced"] < states["line"] < states["instruction"]
    assert not measured.wrong


@pytest.mark.usefixtures("unreduced")
def test_a_search_that_is_stopped_is_marked() -> None:
    """The limit is far below what one slice of a search takes."""
    (row,) = table(only="xtango_dp", limit_seconds=1e-9).measure()
    assert not row["instruction"].complete
    assert row["instruction"].states


def test_ratios() -> None:
    """900 and 300 states against 30; 9,000 and 4,500 bytes against 3,000."""
    assert ratio_to_reduced(ROW, "states", "instruction") == 30.0
    assert ratio_to_reduced(ROW, "table_bytes", "instruction") == 3.0
    assert OptimisticTable().row_to_json(ROW)["ratios"] == {
        "instruction": {"states": 30.0, "table_bytes": 3.0, "complete": True},
        "line": {"states": 10.0, "table_bytes": 1.5, "complete": True},
    }
    lines = rendered(ROW)
    assert ["Clean", "states", "900", "300", "30", "30", "10"] in lines
    assert next(line for line in lines if "memory" in line[:1])[-2:] == ["3.0", "1.5"]
    assert ["paper", "8.2", "MB", "3.6", "MB", "2.3", "MB", "3.6", "1.6"] in lines


def test_what_was_stopped_is_at_least_that() -> None:
    row = with_figures(instruction=STOPPED)
    assert ["Clean", "states", ">900", "300", "30", ">30", "10"] in rendered(row)
    lines = rendered(replace(ROW, case=XTANGO_DP))
    assert ["paper", ">1800", "MB", "609", "MB", "236", "MB", ">7.6", "2.6"] in lines


def test_without_a_reduced_search_there_is_no_ratio() -> None:
    row = with_figures(reduced=replace(ROW["reduced"], limits=("time",)))
    assert ratio_to_reduced(row, "states", "line") is None
    assert ["Clean", "states", "900", "300", ">30", "-", "-"] in rendered(row)
    assert OptimisticTable().row_to_json(row)["ratios"] == {"instruction": None, "line": None}


def test_a_reduction_that_has_more_states_is_told() -> None:
    row = with_figures(reduced=replace(FULL, states=901))
    unknown = replace(row, figures={**row.figures, "instruction": STOPPED})
    assert not OptimisticTable(rows=[unknown]).wrong
    assert ["Clean:", "the", "reduced", "search", "has", "the", "most", "states."] in rendered(row)
    assert OptimisticTable(rows=[row]).publish(as_json=True) == 1


@pytest.mark.usefixtures("unreduced")
def test_the_json_has_every_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(quick=True).run(as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["tool"], printed["benchmark"]) == ("mazurka", "optimistic")
    assert printed["limit_seconds"] == 60.0
    assert [row["model"] for row in printed["rows"]] == NAMES
    for row in printed["rows"]:
        assert set(row) == {
            "model", "title", "constants", "instruction", "line", "reduced", "ratios", "paper",
        }  # fmt: skip
        assert set(row["reduced"]) == {
            "states", "transitions", "table_bytes", "seconds", "complete", "rounds",
            "earlier_states",
        }  # fmt: skip
        assert row["ratios"]["line"]["states"] == row["line"]["states"] / row["reduced"]["states"]


def test_the_papers_ratios_follow_from_its_memory() -> None:
    """The paper rounds both, the memory to a tenth of a megabyte or a megabyte."""
    for case in CASES:
        memory, ratios = case.megabytes, case.ratios
        by_instruction = pytest.approx(ratios["instruction"], rel=0.02)
        assert memory["instruction"] / memory["reduced"] == by_instruction
        assert memory["line"] / memory["reduced"] == pytest.approx(ratios["line"], rel=0.03)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"only": "dining"}, "unknown model 'dining'"),
        ({"order": "bfs"}, "depth-first"),
        ({"repeat": 2}, "the same in every round"),
        ({"limit_seconds": 0.0}, "greater than 0"),
        ({"limit_seconds": float("nan")}, "greater than 0"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        table(**options).measure()


def test_names_may_be_written_as_the_paper_does() -> None:
    assert [case.name for case in table(only="Xtango-DP").select()] == ["xtango_dp"]


def test_how_ratios_are_written() -> None:
    assert [times(ratio) for ratio in (1.64, 9.9, 22.4, 1234.5)] == ["1.6", "9.9", "22", "1,234"]
