"""The benchmark of whole commands: both versions of each model have the verdict they must have.

Nothing here depends on how long anything takes.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest

from mazurka import check
from mazurka.bench import spin, verdict
from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Measured
from mazurka.bench.verdict import CASES, VerdictCase, VerdictTable, is_wrong, ratio
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console

NEEDS_SPIN = pytest.mark.skipif(spin.missing() is not None, reason="spin and gcc are needed")
MEASURED = Figures(states=100, failure="deadlock", seconds=0.5, processor_seconds=0.6)
BESIDE = Figures(states=900, failure="deadlock", seconds=2.0, processor_seconds=1.5)
REPORT = """\
pan:1: {what} (at depth 38)
pan: wrote model.pml.trail
State-vector 40 byte, depth reached 38, errors: 1
       39 states, stored
"""


def table(**options: Any) -> VerdictTable:
    return VerdictTable(BenchOptions(**options))


def row_with(beside: Figures = BESIDE, ours: Figures = MEASURED) -> Measured[VerdictCase]:
    (philosophers,) = (case for case in CASES if case.name == "philosophers")
    return Measured(case=philosophers, figures={"mazurka": ours, "spin": beside})


def rendered(*rows: Measured[VerdictCase]) -> str:
    stream = io.StringIO()
    made = VerdictTable(rows=list(rows), tools={"spin": "Spin"})
    made.print(make_console(stream, width=80))
    return stream.getvalue()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_small_instances_have_the_verdict_of_the_table(case: VerdictCase) -> None:
    answer = check(case.path, definitions=case.chosen(quick=True))
    assert answer.verdict == ("violated" if case.failure else "holds")
    assert (answer.violation.kind if answer.violation else None) == case.failure


def test_there_are_twelve_models_in_both_languages() -> None:
    assert len({case.model for case in CASES}) == len(CASES) == 12
    for case in CASES:
        promela = case.path.with_suffix(".pml").read_text(encoding="utf-8")
        for name, value in case.constants.items():
            assert f"#define {name} " in promela
            assert f"{name} = " in case.path.read_text(encoding="utf-8")
            assert value > 0


@NEEDS_SPIN
def test_whole_commands_are_run() -> None:
    (row,) = table(quick=True, only="philosophers").measure()
    assert row["spin"].error is None
    assert row["mazurka"].failure == row["spin"].failure == "deadlock"
    assert not is_wrong(row)
    assert row["mazurka"].seconds
    assert row["spin"].command == "spin -a; gcc -O2 -DSAFETY; pan -m1000000 -n"


def test_without_spin_there_is_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spin, "missing", lambda: "spin not found")
    monkeypatch.setattr(verdict, "run_mazurka", lambda *_: MEASURED)
    assert table(only="philosophers").run() == 0
    assert "SPIN is left out of philosophers: spin not found" in capsys.readouterr().out


def test_the_ratio_is_spins_time_by_ours() -> None:
    """2 seconds against a half."""
    assert ratio(row_with()) == 4.0
    printed = rendered(row_with())
    assert "4.00x" in printed
    assert "Mazurka is ahead on 1 of 1 models; the smallest ratio is 4.00." in " ".join(
        printed.split()
    )
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("tool", ["mazurka", "spin"])
def test_a_wrong_verdict_has_no_ratio(tool: str) -> None:
    wrong = replace(MEASURED, failure=None)
    row = row_with(ours=wrong) if tool == "mazurka" else row_with(wrong)
    assert ratio(row) is None
    assert f"philosophers: {tool} says holds, which is wrong." in rendered(row)
    assert VerdictTable(rows=[row]).publish(as_json=True) == 1


@pytest.mark.parametrize(
    ("what", "kind"),
    [("assertion violated (inside==1)", "assert"), ("invalid end state", "deadlock")],
)
def test_reports_of_spin(what: str, kind: str) -> None:
    found = spin.parse_verdict(REPORT.format(what=what))
    assert (found.failure, found.states) == (kind, 39)
    clean = REPORT.partition("trail\n")[2].replace("errors: 1", "errors: 0")
    assert spin.parse_verdict(clean).failure is None


@pytest.mark.parametrize(
    "report",
    [
        REPORT.format(what="error, partial order reduction invalid"),
        "error: max search depth too small\n" + REPORT.format(what="invalid end state"),
        "errors: 1\n 39 states, stored",
    ],
)
def test_what_is_no_verdict_of_spin(report: str) -> None:
    with pytest.raises(spin.SpinError):
        spin.parse_verdict(report)


def test_order_is_refused() -> None:
    with pytest.raises(OptionError, match="each tool searches in the order that it chooses"):
        table(order="bfs").measure()
