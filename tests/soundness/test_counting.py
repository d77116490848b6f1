"""Ranges of counters: no value of a random model is outside of the range derived for it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from mazurka.errors import MazurkaError
from mazurka.ir.passes.ranges import infer_ranges
from mazurka.ir.values import fixpoint, rounds
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


def use_up(self: rounds.Paths, edges: int) -> None:
    self.work = 0


def test_no_value_is_outside_where_the_work_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEAST_ENDURANCE", "ENDURANCE"):
        monkeypatch.setattr(fixpoint, name, 0)
    monkeypatch.setattr(rounds.Paths, "_spend", use_up)
    judged = 0
    for seed in range(10):
        program = read_model(CountingModel(Random(seed)).text, tmp_path)
        assert escape(program, STATES) is None, f"seed {seed}"
        try:
            judged += infer_ranges(program) is not None
        except MazurkaError:
            continue
    assert judged >= 1
