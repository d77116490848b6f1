"""Check all examples by one worker, by several threads, on a cluster and on a GPU, and compare the
answers.

    python benchmarks/same_everywhere.py [--workers 2] [--no-cluster] [--device cuda]
                                         [--shared-level 1] [FILE ...]

Each file is checked three times in each way.  *Whole*: the full search to its end, of which states,
transitions, depth and verdict must be the same; and once more without taking alike threads for one.
*First*: as `mazurka check FILE` does with these options, up to the first violation; what is found
must be of the same kind, and the plain command must give the same verdict.  The counterexample must
not be longer than that of one worker's breadth-first search.  With `--shared-level 1` all workers
of the cluster take part in the smallest searches; `--device cuda` needs a GPU.  Exit status 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import mazurka
from mazurka.cluster.connection import Connection
from mazurka.cluster.crew import LOCAL
from mazurka.errors import MazurkaError
from mazurka.report.verdict import Verdict
from mazurka.search import Silent
from mazurka.stateful.cluster.search import ClusterSearch

EXAMPLES = Path(__file__).parent.parent / "examples"
SECONDS = 60.0


def examples() -> list[Path]:
    return sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*/*.c")])


def kind(verdict: Verdict) -> str:
    return verdict.violation.kind if verdict.violation is not None else str(verdict.verdict)


def whole(path: Path, tuning: Mapping[str, object], *, symmetry: bool) -> Verdict:
    """The full search to its end."""
    return mazurka.check(
        path, strategy="full", order="bfs", explore_all=True, symmetry=symmetry,
        counterexample="found", limit_seconds=SECONDS, **dict(tuning),
    )  # fmt: skip


def first(path: Path, tuning: Mapping[str, object]) -> Verdict:
    """What the command does with these options: `auto`, up to the first violation."""
    return mazurka.check(path, limit_seconds=SECONDS, **dict(tuning))


def counted(verdict: Verdict) -> tuple[object, ...]:
    made = verdict.statistics
    assert made is not None
    return made.states, made.transitions, made.depth, kind(verdict), tuple(verdict.limits)


def steps(verdict: Verdict) -> int:
    return 0 if verdict.trace is None else verdict.trace.steps


def differences(path: Path, ways: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for symmetry in (True, False):
        name = "whole" if symmetry else "whole, no symmetry"
        expected = whole(path, {}, symmetry=symmetry)
        for way, tuning in ways.items():
            found = whole(path, tuning, symmetry=symmetry)
            if counted(found) != counted(expected):
                yield f"{name}, {way}: {counted(found)} instead of {counted(expected)}"
    plain, usual = first(path, {}), first(path, {"strategy": "full", "order": "bfs"})
    for way, tuning in ways.items():
        found = first(path, tuning)
        if found.verdict != plain.verdict or kind(found) != kind(usual):
            yield f"first, {way}: {kind(found)} instead of {kind(usual)} and {kind(plain)}"
        if steps(found) > steps(usual) and found.order == "bfs":
            yield f"first, {way}: {steps(found)} steps instead of {steps(usual)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-cluster", action="store_true")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--shared-level", type=int, default=ClusterSearch.shared_level)
    given = parser.parse_args()
    ClusterSearch.shared_level = given.shared_level
    ways: dict[str, dict[str, object]] = {"workers": {"workers": given.workers}}
    connection = None
    if not given.no_cluster:
        connection = Connection(LOCAL, given.workers, Silent())
        ways["cluster"] = {"cluster": LOCAL, "workers": given.workers}
    if given.device != "cpu":
        ways[given.device] = {"device": given.device}
    wrong = compared = 0
    began = time.monotonic()
    try:
        for path in given.files or examples():
            compared += 1
            try:
                for text in differences(path, ways):
                    wrong += 1
                    print(f"{path.name}: {text}", flush=True)
            except MazurkaError as error:
                wrong += 1
                print(f"{path.name}: {error}", flush=True)
    finally:
        if connection is not None:
            connection.close()
    seconds = time.monotonic() - began
    print(f"{compared} examples compared in {seconds:.0f} s: {', '.join(ways)}; {wrong} differ")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
