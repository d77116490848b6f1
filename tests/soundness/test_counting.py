"""Ranges of counters: no value of a random model is outside of the range derived for it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from mazurka.errors import MazurkaError
from mazurka.ir.passes.ranges import infer_ranges
from tests.soundness.amounts import shares
from tests.soundness.counting_models import CountingModel, escape, read_model
from tests.soundness.restarting import with_restart

STATES = 300


@pytest.mark.parametrize("block", range(shares(2)))
def test_no_value_is_outside_of_its_range(block: int, tmp_path: Path) -> None:
    judged = 0
    for seed in range(10 * block, 10 * block + 10):
        chance = Random(seed)
        program = read_model(CountingModel(chance).text, tmp_path)
        for other in (program, with_restart(program, chance)):
            if other is None:
                continue
            assert escape(other, STATES) is None, f"seed {seed}"
        try:
            judged += infer_ranges(program) is not None
        except MazurkaError:
            continue
    assert judged >= 3
