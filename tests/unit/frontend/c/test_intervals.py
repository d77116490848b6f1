"""Whether an address lies in one of many intervals, against looking at each of them."""

from __future__ import annotations

from random import Random

from mazurka.frontend.c.memory import FEWEST_ALIKE, is_among
from mazurka.ir.expressions import Const

COUNTS = (1, 2, FEWEST_ALIKE - 1, FEWEST_ALIKE, 3 * FEWEST_ALIKE)


def make_intervals(rng: Random) -> list[tuple[int, int]]:
    at = rng.randrange(5)
    made = []
    for _ in range(rng.randrange(1, 4)):
        size = rng.randrange(1, 4)
        distance = size + rng.randrange(4)
        for _ in range(rng.choice(COUNTS)):
            made.append((at, at + size - 1))
            at += distance
        at += rng.randrange(5)
    return made


def test_intervals_at_equal_distances_are_compared_together() -> None:
    rng = Random(32)
    for _ in range(60):
        intervals = make_intervals(rng)
        for address in range(-3, intervals[-1][1] + 5):
            found = is_among(Const(address), intervals)
            expected = any(first <= address <= last for first, last in intervals)
            assert found == Const(int(expected)), (address, intervals)
