"""Measure the search by a cluster of several Ray nodes on this machine against one process.

    python benchmarks/cluster.py [--workers 1,2] [--model philosophers -D N=15] [--repeat 1]

Each worker is on a node of its own, with one processor.  `seconds` are those of the search, without
starting the cluster and compiling; `processor` is what all workers together took of it, which
other load on the machine does not change, and `most` what one of them took; `sent` is how many
states were sent to another worker for each hundred transitions.  Exit status 1 if counts differ.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from mazurka.bench.speed import CASES
from mazurka.cluster.connection import Connection, HiredCrew
from mazurka.cluster.crew import Post
from mazurka.cluster.ray_crew import import_ray
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent, Statistics
from mazurka.stateful.cluster.part import PartOptions, StatePart
from mazurka.stateful.cluster.search import ClusterSearch
from mazurka.stateful.quotient import code_for
from mazurka.stateful.strategies.full import STRATEGY

OPTIONS = SearchOptions(properties=frozenset({"assert"}), order="bfs", limit_bytes=1 << 34)
PARTS = PartOptions(properties=OPTIONS.properties, symmetry=False, limit_bytes=OPTIONS.limit_bytes)
LARGE = {"PRODUCERS": 4, "CONSUMERS": 4, "SIZE": 5}
STORE_BYTES = 256 << 20


@contextmanager
def nodes(count: int) -> Iterator[Connection]:
    """A cluster of so many nodes, each with one processor."""
    import_ray()
    from ray.cluster_utils import Cluster

    usual: dict[str, Any] = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**usual, "include_dashboard": False})
    for _ in range(count - 1):
        cluster.add_node(**usual)
    try:
        with Connection(cluster.address, count, Silent()) as connection:
            yield connection
    finally:
        cluster.shutdown()


def tell(name: str, made: Statistics, first: Statistics, beside: str = "") -> bool:
    """Print a row; whether its counts are those of the first."""
    same = (made.states, made.transitions) == (first.states, first.transitions)
    print(f"{name:<22}{made.states:>12,}{made.transitions:>14,}{made.seconds:>9.2f}"
          f"{made.states_per_second / 1e6:>12.2f}{first.seconds / made.seconds:>8.2f}"
          f"{beside}{'' if same else '  DIFFERENT COUNTS'}", flush=True)  # fmt: skip
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--model", default="bounded_buffer")
    parser.add_argument("-D", dest="constants", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args()
    case = next(each for each in CASES if each.name == given.model)
    constants = dict(case.constants) if given.model != "bounded_buffer" else LARGE
    constants = {**constants, **{k: int(v) for k, v in (d.split("=") for d in given.constants)}}
    program = case.load(constants)
    print(f"{given.model} {constants}")
    print(f"{'':<22}{'states':>12}{'transitions':>14}{'seconds':>9}{'M states/s':>12}{'ratio':>8}"
          "   processor        most    sent")  # fmt: skip
    began = time.process_time()
    runs = [STRATEGY.run(program, OPTIONS, Silent()).statistics for _ in range(given.repeat)]
    taken_here = (time.process_time() - began) / given.repeat
    first = fastest(runs)
    tell("one process", first, first, f"{taken_here:>12.2f}{taken_here:>12.2f}")
    same, bare = True, replace(program)

    def given_at(post: Post) -> tuple[Program, PartOptions, int]:
        return bare, replace(PARTS, parts=post.size, neighbours=post.neighbours), post.number

    for workers in map(int, given.workers.split(",")):
        with nodes(workers) as connection:
            runs, taken = [], list[list[float]]()
            for _ in range(given.repeat):
                with HiredCrew(connection, workers, StatePart, given_at, Silent()) as crew:
                    search = ClusterSearch(code_for(program, OPTIONS), OPTIONS, Silent(), crew)
                    runs.append(search.run().statistics)
                    taken.append(search.ask_all("processor_seconds"))
                    sent = search.total(lambda report: sum(report.sent))
        least, share = min(taken, key=sum), 100 * sent / runs[0].transitions
        name = f"{workers} node{'s' if workers > 1 else ''}, Ray"
        same &= tell(
            name, fastest(runs), first, f"{sum(least):>12.2f}{max(least):>12.2f}{share:>8.1f}"
        )
    return 0 if same else 1


def fastest(runs: Sequence[Statistics]) -> Statistics:
    return min(runs, key=lambda made: made.seconds)


if __name__ == "__main__":
    sys.exit(main())
