"""How strategies are found by name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mazurka.errors import OptionError
from mazurka.search import PROPERTIES, Silent, Statistics
from mazurka.search.registry import load_strategy, strategy_names

LISTING = """
import sys
from {module} import {function}
{function}()
print([name for name in ("numba", "llvmlite", "numpy") if name in sys.modules])
"""


def modules_loaded_by(function: str, module: str = "mazurka.search.registry") -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = LISTING.format(function=function, module=module)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_listing_strategies_loads_no_compiler() -> None:
    assert modules_loaded_by("strategy_names") == "[]"


def test_their_declarations_load_none_either() -> None:
    assert modules_loaded_by("declared_options") == "[]"


def test_the_checks_above_would_notice_a_compiler() -> None:
    assert "llvmlite" in modules_loaded_by("check_time", "mazurka.ir.native.machine_code")


def test_names_have_no_underscores_and_are_sorted() -> None:
    names = strategy_names()
    assert "full" in names
    assert names == sorted(names)
    assert not any("_" in name for name in names)


def test_every_strategy_says_what_it_is() -> None:
    for name in strategy_names():
        strategy = load_strategy(name)
        assert strategy.name == name
        assert strategy.summary
        assert strategy.orders
        assert strategy.preserves <= set(PROPERTIES)


@pytest.mark.parametrize("name", ["fulll", "", "strategy", "../full", "Full"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(OptionError, match=r"unknown strategy .*; there are: .*full"):
        load_strategy(name)


def test_rates_of_a_search_that_did_nothing() -> None:
    assert (Statistics().bytes_per_state, Statistics().states_per_second) == (0.0, 0.0)
    some = Statistics(states=10, seconds=2.0, table_bytes=80)
    assert (some.bytes_per_state, some.states_per_second) == (8.0, 5.0)


def test_the_silent_observer_looks_away(capsys: pytest.CaptureFixture[str]) -> None:
    observer = Silent()
    observer.progress(Statistics())
    observer.message("working")
    observer.notice("pausing")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
