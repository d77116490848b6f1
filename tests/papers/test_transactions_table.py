"""Table 1 of paper 000: our models have the shape that the paper reports.

Cycle detection schedules every thread in every loop, also in those that end nondeterministically;
commit point completion does not.  In workflows nothing is repeated, so nothing has to be completed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.bench.cpc import CASES, CpcTable, ratio_to_cpc
from mazurka.bench.harness import BenchOptions

NONDETERMINISTIC_LOOPS = ("conc", "peterson", "bluetooth", "philosophers")
WORKFLOWS = ("auction_house", "flow_test", "shipping")


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_the_shape_of_the_table(name: str) -> None:
    (row,) = CpcTable(BenchOptions(only=name)).measure()
    states = {strategy: figures.states or 0 for strategy, figures in row.figures.items()}
    assert states["cpc"] <= states["full"]
    if name in NONDETERMINISTIC_LOOPS:
        assert ratio_to_cpc(row) >= 1.5
    if name in WORKFLOWS:
        assert states["cpc"] == states["transactions"]
        assert ratio_to_cpc(row) <= 1.1
    assert documented(row.case.title) == [
        f"{states[strategy]:,}" for strategy in ("full", "transactions", "cpc", "cycle-detection")
    ]


def documented(title: str) -> list[str]:
    """The numbers of states that `docs/benchmarks.md` gives for a program."""
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in rows[0][2:6]]
