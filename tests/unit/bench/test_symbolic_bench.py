"""Paper 004's table and all back ends: what is searched, held against what is known, and printed.

Nothing here depends on how long anything takes.
"""

from __future__ import annotations

import ast
import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.limits import ENOUGH

from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Measured
from mazurka.bench.optimistic import OptimisticTable
from mazurka.bench.plot import PlotLine, draw_times
from mazurka.bench.symbolic import (
    BACK_ENDS,
    CASES,
    RACES,
    SCHEDULERS,
    WIDE,
    SymbolicCase,
    SymbolicTable,
    find_answer,
    find_searches,
    find_winner,
    list_wins,
)
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console
from mazurka.search.registry import strategy_names

EXAMPLES = Path(__file__).parents[3] / "examples"
FOUND = Figures(failure="race", seconds=1.0, depth=3, encoding_seconds=0.25, loading_seconds=0.5)
WW1 = CASES[0]
ROW = Measured(case=WW1, figures={"full": FOUND, "sweeps": replace(FOUND, failure=None)})


def rendered(row: Measured[SymbolicCase], width: int = 80) -> str:
    stream = io.StringIO()
    SymbolicTable(rows=[row]).print(make_console(stream, width=width))
    return stream.getvalue()


def test_the_published_numbers_are_those_of_the_paper() -> None:
    """The sums of the columns, so that a slip of the pen is noticed."""
    races = [case for case in CASES if case.table == RACES]
    sums = {
        column: (
            sum(case.paper[column].depth or 0 for case in races),
            sum(case.paper[column].seconds or 0.0 for case in races),
            sum(case.paper[column].peak_bytes or 0 for case in races),
        )
        for column in ("full", "partial-order", "transactions")
    }
    assert sums["full"] == (15 + 15 + 20, 0, 0)
    assert sums["partial-order"] == (122 + 151 + 48, pytest.approx(181885.99), 2_874_700_000)
    assert sums["transactions"] == (122 + 151 + 48, pytest.approx(7210.89), 1_029_500_000)


def test_all_back_ends_take_part() -> None:
    searches = [find_searches(case) for case in CASES if case.table == BACK_ENDS]
    assert len(searches) >= 10
    for each in searches:
        assert list(each) == ["explicit", *strategy_names("symbolic")]
    assert set(SCHEDULERS) <= set(find_searches(WW1))


def test_wide_models_are_right_and_broken() -> None:
    wide = [case for case in CASES if case.table == WIDE]
    assert len(wide) >= 10
    for right, broken in zip(wide[::2], wide[1::2], strict=True):
        assert (right.model, right.failure) == (broken.model, None)
        assert broken.failure == "assert"
        assert set(broken.constants) <= set(right.load({}).constants)
    assert {"sweeps", "full", "explicit"} <= set(find_searches(wide[0]))


def test_the_model_of_daisy_is_the_example() -> None:
    (path,) = {case.path for case in CASES if case.model == "symbolic/daisy"}
    texts = (path.read_text("utf-8"), (EXAMPLES / "daisy.py").read_text("utf-8"))
    one, other = (ast.dump(ast.parse(text)) for text in texts)
    assert one == other


def test_a_figure_is_measured_with_all_interleavings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SymbolicTable, "compile_searches", lambda table: None)
    (row,) = SymbolicTable(BenchOptions(only="figure1", quick=True, limit_seconds=ENOUGH)).measure()
    assert {find_answer(each) for each in row.figures.values()} == {"holds"}
    # Figure 1: ten steps, five of each thread, are the longest execution; six transactions, which
    # end before 2a and 2b, where both want the lock, and before 3a or 5b, where both write x.
    assert [row[each].depth for each in SCHEDULERS[:3]] == [10, 10, 6]
    table = SymbolicTable(rows=[row])
    assert table.wrong == []
    searches = table.row_to_json(row)["searches"]
    assert isinstance(searches, dict)
    assert all(searches[each]["encoding_seconds"] is not None for each in SCHEDULERS)
    transitions = [row[f"explicit, {each}"].transitions or 0 for each in SCHEDULERS[:3]]
    assert transitions == sorted(transitions, reverse=True)
    assert transitions[0] > transitions[2]


def test_a_wrong_answer_is_told() -> None:
    assert SymbolicTable(rows=[ROW]).wrong == [
        "WW_1: blocks 0 and 1: sweeps says holds, but it is race."
    ]
    stopped = replace(ROW, figures={"full": replace(FOUND, failure=None, limits=("time",))})
    assert SymbolicTable(rows=[stopped]).wrong == []
    assert ">1.00" in rendered(stopped)


def test_who_decides_with_the_least_processor_time_wins() -> None:
    case = next(case for case in CASES if case.table == BACK_ENDS)
    slow, fast = (replace(FOUND, processor_seconds=spent) for spent in (2.0, 1.0))
    unfinished = replace(fast, failure=None, limits=("time",), processor_seconds=0.1)
    figures = {"explicit": unfinished, "bdd": slow, "bmc": fast, "portfolio": unfinished}
    row = Measured(case=case, figures=figures)
    assert find_winner(figures) == "bmc"
    assert (
        list_wins([row], frozenset())
        == f"bmc ({case.name}), explicit and bdd and portfolio nowhere"
    )
    assert "Of the back ends alone" in rendered(row)
    assert SymbolicTable(rows=[row]).row_to_json(row)["winner"] == "bmc"


def test_a_row_that_was_cut_short_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([FOUND])

    def search(*_: object) -> Figures:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr(SymbolicTable, "compile_searches", lambda table: None)
    monkeypatch.setattr(SymbolicTable, "try_strategy", search)
    table, told = SymbolicTable(BenchOptions(only="seek")), list[str]()
    table.measure(told.append)
    assert [list(row.figures) for row in table.rows] == [["full"]]
    assert table.interrupted
    assert told == ["seek and read (1 of 1) ...", "  full ...", "  partial-order ..."]


def test_the_parts_of_the_time_are_shown() -> None:
    assert FOUND.solving_seconds == pytest.approx(0.25)
    shown = rendered(ROW, width=160)
    assert [line.split() for line in shown.splitlines() if "full" in line] == [
        ["WW_1:", "blocks", "0", "and", "1", "full", "race", "1.00", "3",
         "0.25", "0.50", "0.25", "none", "left", "15"]
    ]  # fmt: skip
    assert max(map(len, rendered(ROW).splitlines())) <= 80


def test_the_plot_has_a_line_for_each_search(tmp_path: Path) -> None:
    drawn = SymbolicTable(rows=[ROW]).draw()
    root = ElementTree.fromstring(drawn)
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert {"full", "sweeps", "1.00 s race", "1.00 s holds"} <= set(texts)
    with pytest.raises(OptionError, match="has no plot"):
        OptimisticTable(BenchOptions(svg=str(tmp_path / "plot.svg"))).measure()


def test_a_scale_has_a_beginning_and_an_end() -> None:
    drawn = draw_times("times", [("one", [PlotLine("a", 1.0), PlotLine("b", None, "refused")])])
    assert "1 s" in drawn
    assert "10 s" in drawn
    assert "refused" in drawn
