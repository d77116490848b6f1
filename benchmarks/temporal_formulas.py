"""Compare checks of temporal formulas with the product built by hand, on many random programs.

    python benchmarks/temporal_formulas.py --programs 1000 --seed 0

    python benchmarks/temporal_formulas.py --programs 1000 --strategy pdr

Each program has one random formula, with or without weak fairness.  The nested search and the
strategies of the symbolic engine (or those of `--strategy`), on merged steps as well where the
formula allows that, must say what the components of the product say
(`mazurka.stateful.reference.ltl`), or come to no answer.  `--limit` ends the comparison after so
many seconds.  Exit status 1 if there is a disagreement.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.ltl_agreement import NESTED, compare_formula

import mazurka.ir.native.step
from mazurka.symbolic.temporal.searches import SEARCHES

# Each program takes a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0

STRATEGIES = (NESTED, *SEARCHES)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=float("inf"))
    parser.add_argument("--strategy", action="append", choices=STRATEGIES)
    asked = parser.parse_args()
    strategies = asked.strategy or list(STRATEGIES)
    began, tally, wrong = time.perf_counter(), Counter[tuple[str, str]](), 0
    programs = 0
    for seed in range(asked.seed, asked.seed + asked.programs):
        if time.perf_counter() - began > asked.limit:
            break
        found = compare_formula(seed, strategies)
        if found is None:
            continue
        programs += 1
        for strategy, answer in found.answers.items():
            tally[strategy, answer] += 1
        if found.differs:
            wrong += 1
            print(f"{found.description}: {dict(found.answers)}")
    print(f"{programs:,} programs compared")
    for (strategy, answer), times in sorted(tally.items()):
        print(f"{times:8,} {strategy}: {answer}")
    print(f"{wrong:,} disagreements")
    print(f"{time.perf_counter() - began:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
