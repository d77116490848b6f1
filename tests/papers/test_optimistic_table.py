"""The table of paper 002: `docs/benchmarks.md` shows what `mazurka bench optimistic` counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.bench.harness import BenchOptions, times
from mazurka.bench.optimistic import CASES, OptimisticCase, OptimisticTable
from tests.limits import ENOUGH


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_the_documented_table(name: str) -> None:
    (row,) = OptimisticTable(BenchOptions(only=name, limit_seconds=ENOUGH)).measure()
    assert all(figures.complete for figures in row.figures.values())
    states = [figures.states or 0 for figures in row.figures.values()]
    assert documented(row.case.title) == [
        *(f"{count:,}" for count in states),
        *(times(count / states[2]) for count in states[:2]),
        published(row.case),
    ]


def published(case: OptimisticCase) -> str:
    more = ">" if case.out_of_memory else ""
    return f"{more}{times(case.ratios['instruction'])} and {case.ratios['line']:.1f}"


def documented(title: str) -> list[str]:
    """The cells of a program in the table of states."""
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2:-1] for line in text.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in next(row for row in rows if len(row) > 1)]
