"""The table of paper 002: `docs/benchmarks.md` shows what `mazurka bench optimistic` counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.bench.optimistic import measure
from mazurka.bench.optimistic_results import times
from mazurka.bench.optimistic_subjects import SUBJECTS, Published


@pytest.mark.parametrize("name", [subject.name for subject in SUBJECTS])
def test_the_documented_table(name: str) -> None:
    (row,) = measure(only=name, limit_seconds=3600.0).rows
    searches = (row.instruction, row.line, row.reduced)
    assert all(search.complete for search in searches)
    ratios = (search.states / row.reduced.states for search in searches[:2])
    assert documented(row.title) == [
        *(f"{search.states:,}" for search in searches),
        *(times(ratio) for ratio in ratios),
        published(row.published),
    ]


def published(paper: Published) -> str:
    more = ">" if paper.out_of_memory else ""
    return f"{more}{times(paper.instruction_ratio)} and {paper.line_ratio:.1f}"


def documented(title: str) -> list[str]:
    """The cells of a program in the table of states."""
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2:-1] for line in text.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in next(row for row in rows if len(row) > 1)]
