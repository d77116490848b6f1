"""Compare searches by several workers with those of one, on as many random programs as you like.

    python benchmarks/together.py --seconds 60 --seed 0

Every program is searched by threads, by parts as on a cluster (in this process, in an order drawn
by chance), with persistent sets by threads, and by branches of schedules if its executions end.
Exit status 1 if something differs.  Run from the root.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.cluster_searches import LocalCrew, by_parts
from tests.soundness.reductions import Subject
from tests.soundness.schedules import explored_if_it_ends
from tests.soundness.shared_searches import EVERYTHING, by_workers, difference

from mazurka.ir.program import Program
from mazurka.search import SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful.cluster import part
from mazurka.stateful.cluster import search as cluster_search
from mazurka.stateful.searches import parallel
from mazurka.stateless.branches import BranchSearch, BranchWorker
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import REDUCTIONS
from mazurka.stateless.models.execution import IRExecution

SMALL = {
    parallel: {"SMALL_LEVEL": 1, "FIRST_CAPACITY": 16, "EARLY_CAPACITY": 4, "FINDING_ROOM": 0},
    part: {"OUT_ROOM": 8, "SENT_ROOM": 16, "FINDING_ROOM": 0},
    cluster_search: {"LARGE_LEVEL": 2},
}
"""Arrays that begin too small, and levels that are shared out although they are small."""
REDUCED = ("stubborn", "lock-patterns", "ample")
DIVIDED = ("sleep-sets", "dpor", "source-dpor")
STATES = 300
"""Schedules of programs with more states are not run."""
ALL = RunOptions(stop_at_first=False, max_runs=5_000)


def reduced(strategy: str, program: Program, workers: int, *, symmetry: bool) -> SearchResult:
    tuning = {"proviso": "sticky", "workers": workers}
    options = replace(EVERYTHING, order="dfs", symmetry=symmetry, tuning=tuning)
    return load_strategy(strategy).run(program, options, Silent())


def counts(result: SearchResult) -> tuple[object, ...]:
    made = result.statistics
    found = result.violation is None
    return made.states, made.transitions, frozenset(result.limits), result.notes, found


def differences(program: Program, seed: int) -> Iterator[str]:
    workers, symmetry = 2 + seed % 4, seed % 2 == 0
    for name, search in (
        ("threads", by_workers(workers)),
        ("parts", by_parts(workers, seed, shared_level=1 + seed % 7)),
    ):
        wrong = difference(program, search, symmetry=symmetry)
        if wrong is not None:
            yield f"{workers} {name}: {wrong}"
    for strategy in REDUCED:
        one, several = (counts(reduced(strategy, program, w, symmetry=symmetry)) for w in (1, 3))
        if one != several:
            yield f"{strategy}: {several} instead of {one}"
    if explored_if_it_ends(program, STATES) is not None:
        for name in DIVIDED:
            alone = REDUCTIONS[name](IRExecution(program), ALL).run()
            crew = LocalCrew([BranchWorker(program, name, ALL, None)] * workers, seed=seed)
            found = BranchSearch(program, ALL, crew, lambda explored: None).run()
            same = found.kinds == alone.kinds and found.executions == alone.executions
            if not alone.limits and not same:
                yield f"{name}: {found.executions} executions instead of {alone.executions}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for module, values in SMALL.items():
        for name, value in values.items():
            setattr(module, name, value)
    end, seed, wrong = time.monotonic() + given.seconds, given.seed, 0
    while time.monotonic() < end:
        for text in differences(Subject(seed).program(), seed):
            print(f"{Subject(seed)}: {text}", flush=True)
            wrong += 1
        seed += 1
    print(f"{seed - given.seed} random programs compared, {wrong} differ")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
