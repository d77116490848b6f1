"""Table 1 of paper 003 by the native search: every row, however long."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.bench.cartesian import CASES, CartesianCase
from mazurka.ir.native.step import native
from mazurka.search import SearchOptions, Silent
from mazurka.stateful.searches.cartesian import Vectors
from mazurka.stateful.searches.cartesian_workers import search_cartesian
from mazurka.stateful.variants import CycleRule
from tests.papers.cartesian_programs import load_case

OPTIONS = SearchOptions(properties=frozenset({"assert"}), stop_at_first=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_row_is_the_papers(case: CartesianCase) -> None:
    program = native(load_case(case.name))
    table1 = Vectors(rule=CycleRule.TABLE1, finished=case.finished)
    as_published = search_cartesian(program, OPTIONS, Silent(), table1)
    assert as_published.violation is None
    assert not as_published.limits
    counted = as_published.statistics
    if "table1" in case.paper:
        assert (counted.states, counted.transitions) == case.paper["table1"].counts
    by_default = search_cartesian(program, OPTIONS, Silent(), Vectors())
    assert by_default.violation is None
    assert not by_default.limits
    assert by_default.statistics.states <= counted.states
    assert by_default.statistics.transitions <= counted.transitions
    ours = (counted, by_default.statistics)
    assert documented(case.name) == [
        f"{number:,}" for found in ours for number in (found.states, found.transitions)
    ]


def documented(name: str) -> list[str]:
    """States and transitions by table1 and by default, as `docs/benchmarks.md` shows them."""
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (row,) = [line.split() for line in text.splitlines() if line.startswith(f"{name} ")]
    return row[3:7]
