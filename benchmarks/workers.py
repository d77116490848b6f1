"""Measure the search by several workers against that of one.

    python benchmarks/workers.py [--workers 1,2,4,8,16] [--repeat 3] [--only peterson] [--large]

The models of `mazurka bench speed`; each row is the fastest of some runs, and must have the counts
of one worker.  Exit status 1 if it has not.  With `--large` the models are ten to fifty times as
large: those of `mazurka bench speed` take 16 workers a tenth of a second, and so short a time says
as much about the machine's other work as about the search.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from mazurka.bench.speed import CASES
from mazurka.search import SearchOptions, Silent
from mazurka.stateful.strategies.full import STRATEGY

OPTIONS = SearchOptions(properties=frozenset({"assert"}), order="bfs", limit_bytes=1 << 34)

LARGE = {
    "philosophers": {"N": 16},
    "peterson": {"N": 6},
    "bounded_buffer": {"PRODUCERS": 4, "CONSUMERS": 4, "SIZE": 6},
    "relaxation": {"WORKERS": 11, "LENGTH": 3, "SHORTCUT": 29},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    same = True
    print(f"{'model':<16}{'workers':>8}{'states':>12}{'seconds':>9}{'M states/s':>12}  ratio")
    for case in CASES:
        if given.only not in ("", case.name):
            continue
        program, first = case.load(LARGE[case.name] if given.large else case.constants), None
        for workers in map(int, given.workers.split(",")):
            options = replace(OPTIONS, tuning={"workers": workers})
            runs = [STRATEGY.run(program, options, Silent()) for _ in range(given.repeat)]
            made = min((run.statistics for run in runs), key=lambda each: each.seconds)
            first = first or made
            ratio = first.seconds / made.seconds
            row = (f"{case.name:<16}{workers:>8}{made.states:>12,}{made.seconds:>9.3f}"
                   f"{made.states_per_second / 1e6:>12.2f}  {ratio:.2f}")  # fmt: skip
            if (made.states, made.transitions) != (first.states, first.transitions):
                row += "  DIFFERENT COUNTS"
                same = False
            print(row, flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
