"""Searches that are not asked for assertions go on past those that fail, and so do schedules."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import check
from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.search.registry import load_strategy, strategy_names

KEEPING_RACES = [name for name in strategy_names() if "race" in load_strategy(name).preserves]

RACE = """
from mazurka.model import Int, yield_
x: Int[0, 3] = 0
y: Int[0, 3] = 0

def fails():
    assert x > 2

def writes(value):
    global y
    yield_()
    y = value

threads = [fails(), writes(1), writes(2)]
"""


@pytest.mark.parametrize("strategy", KEEPING_RACES)
@pytest.mark.parametrize("counterexample", ["auto", "found", "switches"])
def test_the_schedule_of_a_race_may_pass_a_failure(
    tmp_path: Path, strategy: str, counterexample: str
) -> None:
    model = tmp_path / "model.py"
    model.write_text(RACE, encoding="utf-8")
    verdict = check(model, strategy=strategy, properties=("race",), counterexample=counterexample)
    assert verdict.verdict == VIOLATED
    assert verdict.violation is not None
    assert verdict.violation.kind == "race"


HIDDEN = """
from mazurka.model import Int, Mutex
x: Int[0, 3] = 0
m = Mutex()
k = Mutex()

def fails():
    assert x > 2

def one():
    with m:
        with k:
            pass

def other():
    with k:
        with m:
            pass

threads = [fails(), one(), other()]
"""


def test_deadlocks_hidden_by_a_failed_assertion_are_mentioned(tmp_path: Path) -> None:
    """By definition a state with a failed thread is no deadlock; the verdict says so."""
    model = tmp_path / "model.py"
    model.write_text(HIDDEN, encoding="utf-8")
    verdict = check(model, properties=("deadlock",))
    assert verdict.verdict == HOLDS
    assert any("fails an assertion" in note for note in verdict.notes)
    without = HIDDEN.replace("    assert x > 2", "    pass")
    model.write_text(without, encoding="utf-8")
    assert check(model, properties=("deadlock",)).verdict == VIOLATED
