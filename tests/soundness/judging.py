"""Judge random programs, seed by seed, for as long as there is time: what benchmarks share."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Iterator


def judge_programs(judge: Callable[[int], bool], description: str) -> int:
    """Run the command line of a benchmark that judges programs; returns its exit status.

    `judge` takes a seed and raises where something is wrong; it returns whether there was something
    to be judged.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first program")
    options = parser.parse_args()
    drawn = judged = wrong = 0
    for seed in count_for(options.seconds, options.seed):
        drawn += 1
        try:
            judged += judge(seed)
        except Exception:
            wrong += 1
            print(f"seed {seed}:")
            traceback.print_exc(file=sys.stdout)
    print(f"{drawn:,} programs, {judged:,} judged, {wrong:,} disagreements")
    return 1 if wrong else 0


def count_for(seconds: float, first: int) -> Iterator[int]:
    """Count from a number on until the time is up."""
    end, number = time.monotonic() + seconds, first
    while time.monotonic() < end:
        yield number
        number += 1
