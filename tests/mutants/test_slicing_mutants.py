"""Slices that leave out too much: the comparison with the program itself must notice each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mazurka.errors import InternalError
from mazurka.ir.passes import slicing
from mazurka.ir.program import Assign
from mazurka.report.trace import ReplayMismatch
from tests.soundness.slicing_agreement import find_difference, random_prepared

PROGRAMS = 120


def forget_values(self: Any, expr: Any, edge: Any, live: set[int], private: set[int]) -> None:
    """What is stored in relevant cells is not looked at."""
    stored = [each.value for each in edge.operations if isinstance(each, Assign)]
    if not any(expr is each for each in stored):
        original_note(self, expr, edge, live, private)


def drop_what_may_fail(self: Any, operation: Any, edge: Any, live: set[int]) -> Iterator[Any]:
    targets = self.footprints.targets(operation.address, edge.choices)
    if not (self.relevant | live).isdisjoint(targets):
        yield operation


def ignore_checks(self: Any, expr: Any, edge: Any, live: set[int], private: set[int]) -> None:
    """Only guards make cells relevant."""
    if expr is edge.guard:
        original_note(self, expr, edge, live, private)


original_note = slicing._Slicer._note
MUTANTS: list[tuple[str, str, Any]] = [
    ("stored values do not matter", "_note", forget_values),
    ("what fails does not matter", "slice_assignment", drop_what_may_fail),
    ("checks do not matter", "_note", ignore_checks),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(mutant: tuple[str, str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _, attribute, replacement = mutant
    monkeypatch.setattr(slicing._Slicer, attribute, replacement)
    for seed in range(PROGRAMS):
        try:
            if find_difference(random_prepared(seed))[0] is not None:
                return
        except (InternalError, ReplayMismatch, AssertionError):
            return
    pytest.fail("no program shows it")
