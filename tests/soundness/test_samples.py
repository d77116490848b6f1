"""A few outcomes of a wide choice stand for all of them, or a bound says that they do not."""

from __future__ import annotations

from random import Random

from tests.soundness.choosing_programs import random_choosing
from tests.soundness.sample_agreement import find_difference


def test_samples_show_what_all_outcomes_show() -> None:
    exact = 0
    for seed in range(40):
        problem, enough = find_difference(random_choosing(Random(seed)))
        assert problem is None, f"seed {seed}"
        exact += enough
    assert exact >= 5
