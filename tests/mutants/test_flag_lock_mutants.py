"""Flags that become locks wrongly: the comparison, state by state, must notice each of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mazurka.ir.passes import flag_locks
from tests.soundness.flag_agreement import find_difference
from tests.soundness.flag_programs import random_flags
from tests.soundness.variants import VARIANTS

PROGRAMS = 120
STATES = 400

original_divide = flag_locks._divide

# name, object, attribute, replacement
MUTANTS: list[tuple[str, Any, str, Any]] = [
    ("flags are read as their owners", flag_locks, "_read_flags", lambda expr, flags: expr),
    ("every place may hold the lock", flag_locks, "_is_held_by_place", lambda *a: True),
    ("swaps always find the flag clear", flag_locks, "_divide",
     lambda edge, flag, value: original_divide(edge, flag, 0)),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, Any, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, owner, attribute, replacement = mutant
    monkeypatch.setattr(owner, attribute, replacement)
    for seed in range(PROGRAMS):
        program = VARIANTS["prepared"](random_flags(Random(seed)))
        try:
            if find_difference(program, STATES) is not None:
                return
        except (AssertionError, AttributeError, TypeError):
            return
    pytest.fail("it survives")
