"""Kernel: evaluate all nodes of a graph for many runs at a time, one a bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.compiled.pointers import compiled, halves_at, numbers_at, words_at
from mazurka.symbolic import blocks

NOTHING = np.uint64(0)
EVERYTHING = np.uint64((1 << 64) - 1)


@compiled
def run(address: Any) -> Any:
    block = numbers_at(address)
    fanins, values = halves_at(block[blocks.FANINS]), words_at(block[blocks.VALUES])
    lanes = block[blocks.LANES]
    for node in range(1, block[blocks.NODES]):
        first, second = np.int64(fanins[2 * node]), np.int64(fanins[2 * node + 1])
        if first < 0:
            continue
        x, y = (first >> 1) * lanes, (second >> 1) * lanes
        flip_x = EVERYTHING if first & 1 else NOTHING
        flip_y = EVERYTHING if second & 1 else NOTHING
        out = node * lanes
        for lane in range(lanes):
            values[out + lane] = (values[x + lane] ^ flip_x) & (values[y + lane] ^ flip_y)
    return np.int64(0)
