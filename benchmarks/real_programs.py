"""Compare the searches of paper 001 with brute force on many random Python programs.

    python benchmarks/real_programs.py --programs 200 --seed 0

Each program starts real threads.  Programs with more than `--schedules` schedules are left out.
Prints the disagreements and what was covered; the status is 1 if there are any.  `--only SEED`
prints one program and compares it.  Run from the repository root.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.python_agreement import Agreement, compare
from tests.soundness.python_runs import module_of
from tests.soundness.random_python import random_source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", type=int, help="show this program, and compare it alone")
    parser.add_argument("--timed", action="store_true", help="programs with clocks and sleeps")
    parser.add_argument("--schedules", type=int, default=1500, help="at most so many of a program")
    arguments = parser.parse_args()
    if arguments.only is not None:
        print(random_source(arguments.only, arguments.timed))
        seeds = range(arguments.only, arguments.only + 1)
    else:
        seeds = range(arguments.seed, arguments.seed + arguments.programs)
    with tempfile.TemporaryDirectory() as folder:
        return run(seeds, arguments.timed, arguments.schedules, Path(folder))


def run(seeds: range, timed: bool, limit: int, folder: Path) -> int:
    covered: Counter[str] = Counter()
    bad = 0
    started = time.perf_counter()
    for seed in seeds:
        agreement = compared(seed, timed, limit, folder)
        if agreement is None:
            covered["too large"] += 1
            continue
        covered["programs"] += 1
        covered["schedules"] += agreement.schedules
        covered["schedules with a point before every access"] += agreement.fine_schedules
        covered["executions"] += agreement.executions
        covered["programs in which some executions need an early timeout"] += bool(
            agreement.patient
        )
        covered[f"programs with executions that need {agreement.deepest} preemptions"] += 1
        covered.update({f"programs with {kind}": 1 for kind in agreement.failures})
        bad += bool(agreement.problems)
        for problem in agreement.problems:
            print(f"seed {seed}: {problem}", flush=True)
    print(f"seeds {seeds[0]}..{seeds[-1]}: {bad} programs with disagreements,", end=" ")
    print(f"{time.perf_counter() - started:.0f} s")
    for name, count in sorted(covered.items()):
        print(f"  {count:>8,}  {name}")
    return 1 if bad else 0


def compared(seed: int, timed: bool, limit: int, folder: Path) -> Agreement | None:
    try:
        return compare(module_of(folder, random_source(seed, timed)), limit)
    except Exception as error:
        return Agreement(problems=[f"{type(error).__name__}: {error}"])


if __name__ == "__main__":
    sys.exit(main())
