"""The benchmark of paper 000's table: its models, what is measured and what is printed.

Nothing here depends on how long anything takes.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mazurka import check
from mazurka.bench.cpc import CASES, STRATEGIES, CpcCase, CpcTable, count_code_lines
from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Measured
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console

FULL = Figures(states=2000, transitions=6000, seconds=0.5)
(CONC,) = (case for case in CASES if case.name == "conc")
ROW = Measured(
    case=CONC,
    constants={"PRODUCERS": 3},
    figures={
        "full": FULL,
        "transactions": replace(FULL, states=900),
        "cpc": replace(FULL, states=1000, rounds=2, earlier_states=300),
        "cycle-detection": replace(FULL, states=1500),
    },
)

BREAKS = {
    "auction_house": ("    join(second)\n", ""),
    "flow_test": ("        down_settled[here - COLUMNS].acquire()\n", ""),
    "shipping": ("while at_hand > wanted:", "while at_hand > ITEMS:"),
    "conc": ("if closed:", "if False:"),
    "peterson": ("while wants[other] and turn == other:", "while wants[other] and turn == me:"),
    "bluetooth": (
        "    fetch_add(pending, 1)\n    if stopping:\n        leave()\n        return False\n",
        "    if stopping:\n        return False\n    fetch_add(pending, 1)\n",
    ),
    "transaction_manager": ("status[i] = COMMITTED if vote else ABORTED", "status[i] = COMMITTED"),
    "alternating_bit": ("if content % 2 == expected:", "if content >= 0:"),
    "philosophers": ("        assume(holder[fork] == FREE)\n", ""),
    "bakery": ("            while choosing[other]:\n                pass\n", ""),
}
"""What to change in each model so that an assertion fails."""


def titles(case: CpcCase) -> str:
    return case.title


def table(**options: Any) -> CpcTable:
    return CpcTable(BenchOptions(**options))


@pytest.mark.parametrize("case", CASES, ids=titles)
def test_the_models_hold(case: CpcCase) -> None:
    assert check(case.path, definitions=case.quick, properties=("assert",))


@pytest.mark.parametrize("strategy", ["full", "cpc", "cpc-strict", "cycle-detection", "optimistic"])
@pytest.mark.parametrize("case", CASES, ids=titles)
def test_an_assertion_of_each_model_can_fail(case: CpcCase, strategy: str, tmp_path: Path) -> None:
    right, wrong = BREAKS[case.name]
    source = case.path.read_text(encoding="utf-8")
    assert source.count(right) == 1
    broken = tmp_path / "broken.py"
    broken.write_text(source.replace(right, wrong), encoding="utf-8")
    verdict = check(broken, strategy=strategy, properties=("assert",), definitions=case.quick)
    assert verdict.violation is not None
    assert verdict.violation.kind == "assert"


def test_the_published_numbers_are_those_of_the_table() -> None:
    """The sums of the table's columns, so that a slip of the pen is noticed."""
    assert sum(case.paper_lines for case in CASES) == 14317
    assert {
        strategy: sum(case.paper[strategy].states or 0 for case in CASES)
        for strategy in ("transactions", "cpc", "cycle-detection")
    } == {"transactions": 1373988, "cpc": 1427195, "cycle-detection": 1840105}


@pytest.mark.parametrize("case", CASES, ids=titles)
def test_the_reductions_reduce(case: CpcCase) -> None:
    measured = table(quick=True, only=case.name)
    (row,) = measured.measure()
    states = {name: figures.states or 0 for name, figures in row.figures.items()}
    assert tuple(states) == STRATEGIES
    assert states["cpc"] <= states["full"]
    assert states["cycle-detection"] <= states["full"]
    assert not measured.wrong
    assert row["full"].rounds == 0


def test_the_json_has_the_paper_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(quick=True, only="conc").run(as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["benchmark"], printed["quick"], printed["repeat"]) == ("cpc", True, 1)
    (row,) = printed["rows"]
    assert (row["model"], row["constants"]) == ("conc", {"PRODUCERS": 1})
    assert set(row["strategies"]) == set(STRATEGIES)
    for search in row["strategies"].values():
        assert set(search) == {"states", "transitions", "seconds", "rounds", "earlier_states"}
    assert row["paper"] == {
        "lines": 392, "transactions": 512, "cpc": 512, "cycle-detection": 2063,
        "ratio": 2063 / 512,
    }  # fmt: skip


def test_the_table() -> None:
    lines = rendered(ROW).splitlines()
    assert lines[0] == "Commit point completion: paper 000, Table 1"
    ours, theirs = (line.split() for line in lines[3:5])
    assert ours == ["Conc", f"{CONC.lines}", "2,000", "900", "1,000", "1,500", "1.50", "2", "0.500"]
    assert theirs == ["392", "512", "512", "2,063", "4.03"]
    assert max(map(len, lines)) <= 80


def test_the_widest_rows_fit_eighty_columns() -> None:
    widest = max(CASES, key=lambda case: len(case.title))
    assert widest.paper["cycle-detection"].states == 1_268_571
    figures = {name: replace(FULL, states=1_000_000, seconds=10.0) for name in STRATEGIES}
    row = replace(ROW, case=widest, figures=figures)
    assert "1,268,571" in rendered(row)
    assert max(map(len, rendered(row).splitlines())) <= 80


def test_more_states_than_the_full_search_are_a_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = replace(ROW, figures={**ROW.figures, "cpc": replace(FULL, states=2001)})
    assert CpcTable(rows=[row]).publish() == 1
    assert "Conc: cpc has more states than the full search" in capsys.readouterr().out


def test_code_lines_leave_out_blanks_comments_and_docstrings() -> None:
    source = '"""Two\nlines."""\n\nX = 1\n\n\n# why\ndef f():\n    """One."""\n    return X  # it\n'
    assert count_code_lines(source) == 3


def test_programs_go_by_both_names() -> None:
    assert [case.title for case in table(only="flow-test").select()] == ["FlowTest"]
    assert [case.name for case in table(only="FlowTest").select()] == ["flow_test"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "sudoku"}, "unknown model 'sudoku' for --only; there are: auction_house, "),
        ({"repeat": 0}, "--repeat 0"),
        ({"order": "bfs"}, "order 'bfs': commit point completion is a depth-first search"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        table(**options).measure()


def rendered(row: Measured[CpcCase]) -> str:
    stream = io.StringIO()
    CpcTable(rows=[row]).print(make_console(stream, width=80))
    return stream.getvalue()
