"""Paper 002's table: three granularities of four programs, ratios, limits, and what is printed."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from mazurka.bench import optimistic
from mazurka.bench.optimistic import measure, run
from mazurka.bench.optimistic_results import Results, Row, Search, print_results, times
from mazurka.bench.optimistic_subjects import SUBJECTS, Published, select
from mazurka.checking import CheckOptions, check_file
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console
from mazurka.search.observer import Silent
from mazurka.search.options import Reading

FULL = Search(states=900, transitions=2000, table_bytes=9000, seconds=1.0, complete=True)
ROW = Row(
    name="clean",
    title="Clean",
    constants={"SIZE": 2},
    instruction=FULL,
    line=replace(FULL, states=300, table_bytes=4500),
    reduced=replace(FULL, states=30, table_bytes=3000, rounds=1, earlier_states=7),
    published=Published(8.2, 3.6, 2.3, 3.6, 1.6),
)
NAMES = [subject.name for subject in SUBJECTS]


def rendered(*rows: Row) -> list[list[str]]:
    """The words of each printed line."""
    stream = io.StringIO()
    print_results(
        Results(quick=False, limit_seconds=60.0, rows=rows), make_console(stream, width=100)
    )
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
    (subject,) = select(name)
    (row,) = measure(quick=True, only=name).rows
    searches = {"instruction": row.instruction, "line": row.line, None: row.reduced}
    for granularity, search in searches.items():
        options = CheckOptions(strategy="full", reading=reading(subject.quick, granularity))
        verdict = check_file(str(subject.path), options, Silent())
        assert verdict.verdict == "holds"
        assert verdict.statistics is not None
        assert search.complete
        assert search.states == verdict.statistics.states


@pytest.mark.parametrize("name", NAMES)
def test_coarser_steps_have_fewer_states(name: str) -> None:
    """A line is several instructions; the reduction stops at few accesses, if at any."""
    (row,) = measure(quick=True, only=name).rows
    assert row.reduced.states < row.line.states < row.instruction.states
    assert not row.not_reduced


@pytest.mark.usefixtures("unreduced")
def test_a_search_that_is_stopped_is_marked() -> None:
    """The limit is far below what one slice of a search takes."""
    (row,) = measure(only="xtango_dp", limit_seconds=1e-9).rows
    assert not row.instruction.complete
    assert row.instruction.states > 0


def test_ratios() -> None:
    """900 and 300 states against 30; 9,000 and 4,500 bytes against 3,000."""
    ratio = ROW.ratio(ROW.instruction)
    assert ratio is not None
    assert (ratio.states, ratio.table_bytes, ratio.complete) == (30.0, 3.0, True)
    lines = rendered(ROW)
    assert ["Clean", "states", "900", "300", "30", "30", "10"] in lines
    assert next(line for line in lines if "memory" in line[:1])[-2:] == ["3.0", "1.5"]
    assert ["paper", "8.2", "MB", "3.6", "MB", "2.3", "MB", "3.6", "1.6"] in lines


def test_what_was_stopped_is_at_least_that() -> None:
    row = replace(ROW, instruction=replace(FULL, complete=False))
    assert ["Clean", "states", ">900", "300", "30", ">30", "10"] in rendered(row)
    published = Published(1800, 609, 236, 7.6, 2.6, out_of_memory=True)
    lines = rendered(replace(ROW, published=published))
    assert ["paper", ">1800", "MB", "609", "MB", "236", "MB", ">7.6", "2.6"] in lines


def test_without_a_reduced_search_there_is_no_ratio() -> None:
    row = replace(ROW, reduced=replace(ROW.reduced, complete=False))
    assert row.ratio(row.line) is None
    assert ["Clean", "states", "900", "300", ">30", "-", "-"] in rendered(row)
    assert row.to_json()["ratios"] == {"instruction": None, "line": None}


def test_a_reduction_that_has_more_states_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(ROW, reduced=replace(FULL, states=901))
    assert row.not_reduced
    assert not replace(row, instruction=replace(FULL, complete=False)).not_reduced
    assert ["Clean:", "the", "reduced", "search", "has", "the", "most", "states."] in rendered(row)
    results = Results(quick=True, limit_seconds=60.0, rows=(row,))
    monkeypatch.setattr(optimistic, "measure", lambda **_: results)
    assert run(as_json=True) == 1


@pytest.mark.usefixtures("unreduced")
def test_the_json_has_every_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(as_json=True, quick=True) == 0
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
    for subject in SUBJECTS:
        paper = subject.published
        assert paper.instruction / paper.reduced == pytest.approx(paper.instruction_ratio, rel=0.02)
        assert paper.line / paper.reduced == pytest.approx(paper.line_ratio, rel=0.03)


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
        measure(**options)  # type: ignore[arg-type]


def test_names_may_be_written_as_the_paper_does() -> None:
    assert [subject.name for subject in select("Xtango-DP")] == ["xtango_dp"]


def test_how_ratios_are_written() -> None:
    assert [times(ratio) for ratio in (1.64, 9.9, 22.4, 1234.5)] == ["1.6", "9.9", "22", "1,234"]
