"""Samples that miss something: the comparison with all outcomes must notice each of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mazurka.ir.passes import samples
from tests.soundness.choosing_programs import copied_number, random_choosing
from tests.soundness.sample_agreement import find_difference

PROGRAMS = 150
SOON = (27, 2, 99)


def without_jumps(expr: Any, thresholds: set[int], choices: int) -> set[int] | None:
    """Forget where a signed number begins again at its other end."""
    found = original_places(expr, thresholds, choices)
    return None if found is None else found & {value % 32 for value in thresholds}


def compared_with_nothing(self: Any, left: Any, right: Any, choices: int) -> None:
    """Take every comparison for one with a constant."""
    for side in (left, right):
        if (cell := self.copied(side)) is not None:
            self.thresholds[cell].add(0)


original_places = samples._find_places

# name, object, attribute, replacement
MUTANTS: list[tuple[str, Any, str, Any]] = [
    ("copies are not followed", samples._Uses, "_spread", lambda self: None),
    ("comparisons of variables count", samples._Uses, "_compare", compared_with_nothing),
    ("values are not used", samples._Uses, "_value", lambda self, expr, choices: None),
    ("temporaries may be used", samples._Followed, "_only_compares", lambda *a, **k: True),
    ("numbers of choices have no order", samples, "_find_places", without_jumps),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, Any, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, owner, attribute, replacement = mutant
    assert find_difference(copied_number()) == (None, True)
    assert find_difference(copied_number(less=13)) == (None, False)
    monkeypatch.setattr(owner, attribute, replacement)
    if any(find_difference(copied_number(less))[0] is not None for less in (0, 13)):
        return
    for seed in dict.fromkeys((*SOON, *range(PROGRAMS))):
        if find_difference(random_choosing(Random(seed)))[0] is not None:
            return
    pytest.fail("it survives")
