"""Compare interpreter and native code on many random programs.

    python benchmarks/agreement.py --programs 10000 --seed 0

Each program is taken through one variant of the passes (raw, reset, folded, prepared, in turn) and
compared over its whole state space, or its first states: successors, footprints, faults, packing.
Prints the disagreements and what was covered.  Run from the repository root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.agreement import disagreement
from tests.soundness.random_programs import random_program
from tests.soundness.variants import VARIANTS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--states", type=int, default=400, help="compare at most so many states")
    arguments = parser.parse_args()
    names = list(VARIANTS)
    covered: Counter[str] = Counter()
    bad = 0
    started = time.perf_counter()
    for seed in range(arguments.seed, arguments.seed + arguments.programs):
        name = names[seed % len(names)]
        program = VARIANTS[name](random_program(Random(seed), faults=seed // len(names) % 2 == 0))
        try:
            problem = disagreement(program, arguments.states, covered)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        covered[name] += 1
        if problem:
            bad += 1
            print(f"seed {seed} ({name}): {problem}", flush=True)
    seconds = time.perf_counter() - started
    last = arguments.seed + arguments.programs - 1
    print(f"seeds {arguments.seed}..{last}: {bad} disagreements, {seconds:.0f} s")
    print(", ".join(f"{name} {count:,}" for name, count in sorted(covered.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
