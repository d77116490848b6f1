"""Compare checks of temporal formulas with the product built by hand, on many random programs.

    python benchmarks/temporal_formulas.py --programs 1000 --seed 0

Each program has one random formula, with or without weak fairness.  The nested search, on merged
steps as well where the formula allows that, must say what the components of the product say
(`mazurka.stateful.reference.ltl`).  `--limit` ends the comparison after so many seconds of
processor time.  Exit status 1 if there is a disagreement.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.ltl_agreement import find_disagreement

import mazurka.ir.native.step

# Each program takes a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=float("inf"))
    asked = parser.parse_args()
    began, tally = time.process_time(), Counter[str]()
    for seed in range(asked.seed, asked.seed + asked.programs):
        if time.process_time() - began > asked.limit:
            break
        found = find_disagreement(seed)
        if found not in (None, "left out"):
            print(found)
        tally["agrees" if found is None else "left out" if found == "left out" else "differs"] += 1
    for name, times in sorted(tally.items()):
        print(f"{times:8,} {name}")
    print(f"{time.process_time() - began:.1f} s of processor time")
    return 1 if tally["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
