"""Compare random programs as models with the same programs as real threads.

    python benchmarks/readings.py --programs 2000 --seed 0

Each program is read as a model, whose states the interpreter searches, and run as a real program
under all schedules; the sets of outcomes must be equal.  Programs that the model language refuses,
and those with more than `--runs` runs, are left out and counted.  `--programs` counts what was
compared.  Prints the differences and what was covered; the status is 1 if there are any.  `--only
SEED` prints one program and compares it.  With `--values` the programs are about names that hold
frozen records and tuples.  Run from the repository root.
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

from tests.soundness.random_readings import Reading, random_reading
from tests.soundness.reading_agreement import (
    ALGORITHMS,
    difference,
    outcomes_of_model,
    outcomes_of_runs,
)
from tests.soundness.value_readings import random_value_reading

from mazurka.errors import UnsupportedError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100, help="compare so many")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", type=int, help="show this program, and compare it alone")
    parser.add_argument("--values", action="store_true", help="records and tuples in names")
    parser.add_argument("--runs", type=int, default=400, help="at most so many of a program")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after so many")
    arguments = parser.parse_args()
    covered: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    draw = random_value_reading if arguments.values else random_reading
    bad, started, seed = 0, time.perf_counter(), arguments.seed
    if arguments.only is not None:
        print(draw(arguments.only).model)
        arguments.programs, arguments.seed = 1, arguments.only
    with tempfile.TemporaryDirectory() as folder:
        for seed in itertools.count(arguments.seed):
            late = time.perf_counter() - started > arguments.seconds
            if covered["compared"] == arguments.programs or late:
                break
            problem = compare(draw(seed), seed, Path(folder), arguments.runs, covered, refused)
            if problem is not None:
                bad += 1
                print(f"seed {seed}: {problem}", flush=True)
            if arguments.only is not None:
                break
    seconds = time.perf_counter() - started
    print(f"seeds {arguments.seed}..{seed - 1}: {bad} differences, {seconds:.0f} s")
    print(", ".join(f"{name} {count:,}" for name, count in sorted(covered.items())))
    for message, count in refused.most_common(12):
        print(f"  refused {count:,} times: {message}")
    return 1 if bad else 0


def compare(
    reading: Reading,
    seed: int,
    folder: Path,
    limit: int,
    covered: Counter[str],
    refused: Counter[str],
) -> str | None:
    try:
        model = outcomes_of_model(reading)
    except UnsupportedError as error:
        covered["refused"] += 1
        refused["".join("_" if c.isdigit() else c for c in error.message)[:90]] += 1
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if model is None or "bound" in model[0].failures:
        covered["inconclusive"] += 1
        return None
    runs = outcomes_of_runs(reading, folder, ALGORITHMS[seed % 2], limit)
    if runs is None:
        covered["too many runs"] += 1
        return None
    covered["compared"] += 1
    covered["states"] += model[0].executions
    covered["runs"] += runs.executions
    covered["ends"] += len(runs.ends)
    covered.update(f"with {kind}" for kind in runs.failures)
    covered["with several ends"] += len(runs.ends) > 1
    return difference(model, runs)


if __name__ == "__main__":
    sys.exit(main())
