"""The benchmark of paper 000's table: its models, what is measured and what is printed.

Nothing here depends on how long anything takes.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka import check
from mazurka.bench.cpc import STRATEGIES, measure, run
from mazurka.bench.cpc_results import Results, Row, Search, print_results
from mazurka.bench.cpc_subjects import SUBJECTS, Published, Subject, code_lines, select
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console

FULL = Search(states=2000, transitions=6000, seconds=0.5, rounds=0, earlier_states=0)
ROW = Row(
    name="conc",
    title="Conc",
    constants={"PRODUCERS": 3},
    lines=40,
    searches={
        "full": FULL,
        "transactions": replace(FULL, states=900),
        "cpc": replace(FULL, states=1000, rounds=2, earlier_states=300),
        "cycle-detection": replace(FULL, states=1500),
    },
    published=Published(392, 512, 512, 2063),
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


def titles(subject: Subject) -> str:
    return subject.title


@pytest.mark.parametrize("subject", SUBJECTS, ids=titles)
def test_the_models_hold(subject: Subject) -> None:
    assert check(subject.path, definitions=subject.quick, properties=("assert",))


@pytest.mark.parametrize("strategy", ["full", "cpc", "cpc-strict", "cycle-detection", "optimistic"])
@pytest.mark.parametrize("subject", SUBJECTS, ids=titles)
def test_an_assertion_of_each_model_can_fail(
    subject: Subject, strategy: str, tmp_path: Path
) -> None:
    right, wrong = BREAKS[subject.name]
    source = subject.path.read_text(encoding="utf-8")
    assert source.count(right) == 1
    broken = tmp_path / "broken.py"
    broken.write_text(source.replace(right, wrong), encoding="utf-8")
    verdict = check(broken, strategy=strategy, properties=("assert",), definitions=subject.quick)
    assert verdict.violation is not None
    assert verdict.violation.kind == "assert"


def test_the_published_numbers_are_those_of_the_table() -> None:
    """The sums of the table's columns, so that a slip of the pen is noticed."""
    rows = [subject.published for subject in SUBJECTS]
    assert sum(row.lines for row in rows) == 14317
    assert sum(row.unsound for row in rows) == 1373988
    assert sum(row.cpc for row in rows) == 1427195
    assert sum(row.cycle_detection for row in rows) == 1840105


@pytest.mark.parametrize("subject", SUBJECTS, ids=titles)
def test_the_reductions_reduce(subject: Subject) -> None:
    (row,) = measure(quick=True, only=subject.name).rows
    states = {name: search.states for name, search in row.searches.items()}
    assert tuple(states) == STRATEGIES
    assert states["cpc"] <= states["full"]
    assert states["cycle-detection"] <= states["full"]
    assert not row.exceeds_full
    assert row.searches["full"].rounds == 0


def test_the_json_has_the_paper_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(as_json=True, quick=True, only="conc") == 0
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
    assert ours == ["Conc", "40", "2,000", "900", "1,000", "1,500", "1.50", "2", "0.500"]
    assert theirs == ["392", "512", "512", "2,063", "4.03"]
    assert max(map(len, lines)) <= 80


def test_the_widest_rows_fit_eighty_columns() -> None:
    widest = max((subject.title for subject in SUBJECTS), key=len)
    searches = {name: replace(FULL, states=1_000_000, seconds=10.0) for name in STRATEGIES}
    row = replace(ROW, title=widest, searches=searches, published=SUBJECTS[6].published)
    assert "1,268,571" in rendered(row)
    assert max(map(len, rendered(row).splitlines())) <= 80


def test_more_states_than_the_full_search_are_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = replace(ROW, searches={**ROW.searches, "cpc": replace(FULL, states=2001)})
    results = Results(repeat=1, quick=False, rows=(row,))
    monkeypatch.setattr("mazurka.bench.cpc.measure", lambda **_: results)
    assert run() == 1
    assert "Conc: cpc has more states than the full search" in capsys.readouterr().out


def test_code_lines_leave_out_blanks_comments_and_docstrings() -> None:
    source = '"""Two\nlines."""\n\nX = 1\n\n\n# why\ndef f():\n    """One."""\n    return X  # it\n'
    assert code_lines(source) == 3


def test_programs_go_by_both_names() -> None:
    assert [subject.title for subject in select("flow-test")] == ["FlowTest"]
    assert [subject.name for subject in select("FlowTest")] == ["flow_test"]


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
        measure(**options)  # type: ignore[arg-type]


def rendered(row: Row) -> str:
    stream = io.StringIO()
    results = Results(repeat=1, quick=False, rows=(row,))
    print_results(results, make_console(stream, width=80))
    return stream.getvalue()
