"""Random concurrent C programs have the verdict that the unreduced interpreter gives them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.unit.frontend.c.concurrent_agreement import find_disagreements
from tests.unit.frontend.c.concurrent_code import random_concurrent

pytest.importorskip("clang")

STRATEGIES = ("full", "cpc", "cartesian", "optimal-dpor")


@pytest.mark.parametrize(("seed", "memory"), [(3, False), (8, False), (2, True), (4, True)])
def test_strategies_agree_with_the_interpreter(seed: int, memory: bool, tmp_path: Path) -> None:
    """`benchmarks/random_c.py --concurrent` compares as many as wanted, by all strategies."""
    verdict, wrong = find_disagreements(
        random_concurrent(Random(seed), memory=memory), tmp_path, STRATEGIES
    )
    assert verdict != "unknown"
    assert wrong == []
