"""Compare explorations with brute force on many random programs about parts of Python objects.

    python benchmarks/random_objects.py --programs 200 --seed 0

The programs change annotations, metaclasses, asynchronous generators and descriptors in two
threads (`tests/soundness/random_objects.py`).  Brute force runs them in real threads, without
Mazurka, and switches before instructions.  Programs with one outcome are compared, but `--programs`
does not count them.  Prints the disagreements and what was covered; the status is 1 if there are
any.  `--only SEED` prints one program and compares it.  Run from the repository root.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.object_agreement import compare
from tests.soundness.random_objects import random_objects


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200, help="with several outcomes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", type=int, help="show this program, and compare it alone")
    parser.add_argument("--family", default="", help="a part of the family's name")
    arguments = parser.parse_args()
    covered: Counter[str] = Counter()
    bad, started = 0, time.perf_counter()
    if arguments.only is not None:
        print(random_objects(arguments.only, arguments.family))
    with tempfile.TemporaryDirectory() as folder:
        for seed in itertools.count(arguments.seed if arguments.only is None else arguments.only):
            agreement = compare(random_objects(seed, arguments.family), Path(folder))
            if agreement is None:
                covered["programs with too many schedules"] += 1
                continue
            covered["programs"] += 1
            covered["programs with several outcomes"] += agreement.outcomes > 1
            covered["outcomes"] += agreement.outcomes
            covered["schedules of brute force"] += agreement.seen.schedules
            covered[f"{agreement.verdict} {agreement.reason}".strip()] += 1
            bad += bool(agreement.problems)
            for problem in agreement.problems:
                print(f"seed {seed}: {problem}", flush=True)
            enough = covered["programs with several outcomes"] >= arguments.programs
            if enough or arguments.only is not None:
                break
    print(f"up to seed {seed}: {bad} programs with disagreements,", end=" ")
    print(f"{time.perf_counter() - started:.0f} s")
    for name, count in sorted(covered.items()):
        print(f"  {count:>8,}  {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
