"""Which strategies are compared, and with which options."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.limits import NO_TIME

from mazurka import checking, comparing
from mazurka.comparing import compare_file, every_strategy, options_for
from mazurka.deadline import TimeLimitError
from mazurka.errors import MazurkaError, OptionError, UnsupportedError
from mazurka.ir.program import Program
from mazurka.report.comparison import list_remarks
from mazurka.search import Observer, SearchOptions, SearchResult, Silent, Statistics, Strategy
from mazurka.search.registry import load_strategy
from mazurka.search.request import CheckOptions
from mazurka.stateful.variants import HASHES

MODEL = """
from mazurka.model import Int
x: Int[0, 9] = 0

def writes(value):
    global x
    x = value

threads = [writes(n) for n in range(8)]
"""


def nothing(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    return SearchResult(Statistics())


DEAF = Strategy("deaf", "", frozenset({"assert"}), ("dfs",), nothing)
TUNED = Strategy("tuned", "", frozenset({"assert"}), ("dfs",), nothing, options=(HASHES,))
SCHEDULES = Strategy("runs", "", frozenset({"assert"}), ("dfs",), nothing, over_schedules=True)


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    return str(path)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three strategies and nothing else."""
    strategies = {each.name: each for each in (DEAF, TUNED, SCHEDULES)}
    monkeypatch.setattr("mazurka.comparing.load_strategy", strategies.__getitem__)


def test_an_option_reaches_only_those_who_listen():
    options = CheckOptions(tuning={"hashes": 5})
    assert options_for(TUNED, options).tuning == {"hashes": 5}
    assert options_for(DEAF, options).tuning == {}
    assert options_for(DEAF, options).strategy == "deaf"


def test_a_search_over_schedules_has_an_end():
    assert options_for(SCHEDULES, CheckOptions()).limit_seconds == comparing.ENDLESS_SECONDS
    assert options_for(SCHEDULES, CheckOptions(limit_seconds=77)).limit_seconds == 77
    assert options_for(DEAF, CheckOptions()).limit_seconds is None


@pytest.mark.usefixtures("known")
def test_an_option_is_refused_if_nobody_listens(model: str):
    options = CheckOptions(tuning={"hashes": 5}, properties=("assert",))
    found = compare_file(model, ("deaf", "tuned", "runs"), options, Silent())
    assert [verdict.options["hashes"] for verdict in found.verdicts] == [3, 5, 3]
    with pytest.raises(OptionError, match=r"--hashes means nothing to .*: deaf, runs"):
        compare_file(model, ("deaf", "runs"), options, Silent())
    other = CheckOptions(tuning={"cycle_rule": "literal"}, properties=("assert",))
    with pytest.raises(OptionError, match="--cycle-rule means nothing"):
        compare_file(model, ("tuned",), other, Silent())


def test_schedules_come_last():
    names = every_strategy()
    over_schedules = [load_strategy(name).over_schedules for name in names]
    assert names[0] == "full"
    assert over_schedules == sorted(over_schedules)
    assert {"sleep-sets", "dpor", "source-dpor", "optimal-dpor"} <= set(names)


def test_a_comparison_ends_though_the_schedules_do_not(model: str, monkeypatch: pytest.MonkeyPatch):
    """Eight writes of one variable have 8! = 40,320 orders."""
    monkeypatch.setattr(comparing, "ENDLESS_SECONDS", NO_TIME)
    found = compare_file(model, ("dpor",), CheckOptions(), Silent())
    (verdict,) = found.verdicts
    assert (verdict.verdict, verdict.limits) == ("inconclusive", ("time",))
    assert verdict.options["limit_seconds"] == NO_TIME


def test_a_remark_on_the_program_is_made_once(tmp_path: Path):
    path = tmp_path / "forgotten.py"
    path.write_text(
        "from mazurka.model import choose\nx = 0\ndef f():\n    x = 1\n"
        "def g():\n    y = choose(0, 1)\n    assert x <= y\nthreads = [f(), g()]\n"
    )
    found = compare_file(str(path), ("full", "stubborn"), CheckOptions(), Silent())
    assert [verdict.notes for verdict in found.verdicts] == [(), ()]
    assert len(found.notes) == 1
    assert "is `global x` missing?" in found.notes[0]
    assert found.to_json()["notes"] == list(found.notes)


def test_hangs_are_looked_for_by_those_who_can(tmp_path: Path):
    path = tmp_path / "waits.py"
    path.write_text("flag = False\ndef f():\n    while not flag: pass\nthreads = [f(), f()]\n")
    found = compare_file(str(path), ("full", "stubborn", "cartesian"), CheckOptions(), Silent())
    kinds = [verdict.violation and verdict.violation.kind for verdict in found.verdicts]
    assert kinds == ["hang", "hang", None]
    assert found.properties == ("assert", "deadlock", "hang")
    assert list_remarks(found.verdicts[2:], ()) == [
        "cartesian: hangs were not looked for: the strategy does not preserve them"
    ]
    asked = CheckOptions(properties=("assert", "deadlock"))
    assert compare_file(str(path), ("full",), asked, Silent()).properties == asked.properties


def test_nobody_takes_a_step(tmp_path: Path):
    path = tmp_path / "idle.py"
    path.write_text("def f(): pass\nthreads = [f()]\n")
    (verdict,) = compare_file(str(path), ("full",), CheckOptions(), Silent()).verdicts
    assert (verdict.verdict, verdict.notes) == ("holds", (checking.IDLE,))


def test_reading_takes_no_longer_than_is_left_since_the_start(model: str):
    started = time.perf_counter() - 20
    with pytest.raises(TimeLimitError):
        compare_file(model, ("full",), CheckOptions(limit_seconds=10), Silent(), started=started)


@pytest.mark.parametrize("error", [OptionError, UnsupportedError])
def test_a_strategy_that_cannot_search_the_program_is_left_out(
    model: str, monkeypatch: pytest.MonkeyPatch, error: type[MazurkaError]
):
    """It has no solver, or the program is too much for it."""

    def refuse(*_: object) -> SearchResult:
        raise error("there is no solver")

    full = load_strategy("full")
    known = {"full": full, "solving": replace(full, name="solving", run=refuse)}
    monkeypatch.setattr(comparing, "load_strategy", known.__getitem__)
    monkeypatch.setattr(comparing, "strategy_names", lambda engine: list(known))
    found = compare_file(model, None, CheckOptions(), Silent(), engines=("stateful",))
    assert [verdict.strategy for verdict in found.verdicts] == ["full"]
    assert found.left_out == (("solving", "there is no solver"),)
    with pytest.raises(error, match="there is no solver"):
        compare_file(model, ("full", "solving"), CheckOptions(), Silent())
