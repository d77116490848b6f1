"""Daisy has the races of section 5 of paper 004; `lock-patterns`, the paper's own, finds each."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka

MODEL = Path(__file__).parents[2] / "examples" / "daisy.py"


@pytest.mark.parametrize(
    ("definitions", "cell"),
    [
        ({}, "`disk[0]`"),
        ({"FIRST": 1, "SECOND": 2}, "`disk[0]`"),
        ({"SEEK": 1}, "`head`"),
    ],
    ids=["blocks 0 and 1", "blocks 1 and 2", "the disk's head"],
)
def test_lock_patterns_find_the_races_of_the_paper(definitions: dict[str, int], cell: str) -> None:
    verdict = mazurka.check(
        MODEL, properties=["race"], strategy="lock-patterns", definitions=definitions
    )
    assert verdict.violation is not None
    assert verdict.violation.kind == "race"
    assert cell in verdict.violation.message
