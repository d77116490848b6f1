"""The speed benchmark: both versions of each model count the same, and what is printed.

Nothing here depends on how long anything takes.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from mazurka.bench import spin
from mazurka.bench.figures import Figures, typical
from mazurka.bench.harness import BenchOptions, Case, Measured
from mazurka.bench.speed import CASES, SpeedTable, agree, ratio
from mazurka.errors import OptionError
from mazurka.ir.native.layout import make_layout
from mazurka.report.terminal import make_console

NEEDS_SPIN = pytest.mark.skipif(spin.missing() is not None, reason="spin and gcc are needed")
TINY = {
    "philosophers": {"N": 4},
    "peterson": {"N": 3},
    "bounded_buffer": {"PRODUCERS": 1, "CONSUMERS": 2, "SIZE": 2},
    "relaxation": {"WORKERS": 2, "LENGTH": 3, "SHORTCUT": 4},
}
MEASURED = Figures(
    states=100, transitions=300, depth=10, seconds=0.5, table_bytes=1600, peak_bytes=5000
)
BESIDE = replace(MEASURED, seconds=2.0, table_bytes=6400, command="gcc; pan")


def table(**options: Any) -> SpeedTable:
    return SpeedTable(BenchOptions(**options))


def row_with(beside: Figures = BESIDE) -> Measured[Case]:
    (philosophers,) = (case for case in CASES if case.name == "philosophers")
    figures = {"mazurka": MEASURED, "spin": beside}
    return Measured(case=philosophers, constants={"N": 4}, figures=figures)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same models with constants so small that a run takes no time, and is not optimized."""
    small = tuple(replace(case, constants=TINY[case.name], quick=TINY[case.name]) for case in CASES)
    monkeypatch.setattr("mazurka.bench.speed.CASES", small)
    monkeypatch.setattr(spin, "COMPILE_FLAGS", ("-O0", *spin.COMPILE_FLAGS[1:]))


@pytest.fixture
def without_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin, "missing", lambda: "spin not found")


@NEEDS_SPIN
@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("order", ["dfs", "bfs"])
@pytest.mark.parametrize("model", sorted(TINY))
def test_both_tools_count_the_same(model: str, order: str) -> None:
    (row,) = table(only=model, order=order).measure()
    ours, theirs = row["mazurka"], row["spin"]
    assert theirs.error is None
    assert theirs.states is not None
    assert ours.states == theirs.states > 50
    assert ours.transitions == theirs.transitions
    assert agree(row)


@pytest.mark.usefixtures("tiny", "without_spin")
def test_philosophers_have_one_state_less_than_powers_of_three() -> None:
    """Each fork is free or with one of two philosophers, which says where everybody stands: 3^N.

    That all hold just their right fork cannot be: the last step into it would have to be putting
    down a left fork, which leaves that fork free.
    """
    (row,) = table(only="philosophers").measure()
    assert row["mazurka"].states == 3**4 - 1


def test_the_array_heavy_model_has_four_to_eight_words_a_state() -> None:
    (case,) = table(only="relaxation").select()
    assert 4 <= make_layout(case.load(case.constants)).words <= 8


@pytest.mark.usefixtures("tiny", "without_spin")
def test_without_spin_there_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(only="peterson", repeat=2).run() == 0
    printed = capsys.readouterr().out
    assert "peterson (N=3), 1 word a state" in printed
    assert "the median of 2 runs each" in printed
    assert "SPIN is left out: spin not found" in printed


@pytest.mark.usefixtures("tiny", "without_spin")
def test_the_json_has_every_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert table().run(as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tool"] == "mazurka"
    assert (printed["benchmark"], printed["order"], printed["repeat"]) == ("speed", "dfs", 1)
    assert printed["spin_version"] is None
    assert {row["model"]: row["constants"] for row in printed["rows"]} == TINY
    for row in printed["rows"]:
        assert (row["spin"], row["ratio"], row["agrees"]) == (None, None, None)
        assert row["message"] == "spin not found"
        assert set(row["mazurka"]) == {
            "states", "transitions", "depth", "seconds", "states_per_second", "bytes_per_state",
            "table_bytes", "peak_bytes",
        }  # fmt: skip


@pytest.mark.usefixtures("tiny")
def test_a_failure_of_spin_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> spin.Verifier:
        raise spin.SpinError("gcc failed: no space left")

    monkeypatch.setattr(spin, "missing", lambda: None)
    monkeypatch.setattr(spin, "version", lambda: "Spin")
    monkeypatch.setattr(spin, "build", fail)
    (row,) = table(only="philosophers").measure()
    assert row["spin"] == Figures(error="gcc failed: no space left")


def test_ratios() -> None:
    """200 states/s against 50; 16 bytes a state against 64."""
    assert ratio(row_with()) == 4.0
    assert ratio(row_with(), "bytes_per_state") == 0.25


def test_no_ratio_where_the_counts_differ() -> None:
    row = row_with(replace(BESIDE, states=101))
    assert agree(row) is False
    assert ratio(row) is None
    printed = rendered(row)
    assert "differs" in printed
    assert "The tools count differently" in printed
    assert SpeedTable(rows=[row]).publish(as_json=True) == 1


def test_no_ratio_where_the_clock_shows_nothing() -> None:
    row = row_with(replace(BESIDE, seconds=0.0))
    assert ratio(row) is None
    assert "shows nothing" in rendered(row)


def test_the_table() -> None:
    lines = rendered(row_with()).splitlines()
    assert lines[2] == "philosophers (N=4), 1 word a state"
    assert re.split(r"\s{1,}", lines[4].strip()) == [
        "Mazurka", "100", "300", "0.500", "200", "16.0", "5", "kB", "4.00x",
    ]  # fmt: skip
    assert lines[5].split()[:2] == ["SPIN", "100"]
    assert max(map(len, lines)) <= 80


def test_the_typical_run_is_the_median() -> None:
    runs = [replace(MEASURED, seconds=seconds) for seconds in (9.0, 1.0, 2.0)]
    assert typical(runs).seconds == 2.0
    assert typical(runs[:2]).seconds == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "sudoku"}, "unknown model 'sudoku' for --only; there are: philosophers, "),
        ({"repeat": 0}, "--repeat 0"),
        ({"order": "random"}, "unknown order 'random'; there are: dfs, bfs"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        table(**options).measure()


def test_dashes_serve_as_underscores() -> None:
    assert [case.name for case in table(only="bounded-buffer").select()] == ["bounded_buffer"]


def rendered(row: Measured[Case]) -> str:
    stream = io.StringIO()
    SpeedTable(rows=[row], tools={"spin": "Spin"}).print(make_console(stream, width=80))
    return stream.getvalue()
