"""What a test costs besides its executions: loading Mazurka, patching, rewriting, putting back.

    python benchmarks/set_up.py [--processes N]

The test uses one package (`rich`): two threads fill a table each.  It is explored three times in
each of several fresh processes, the first of which finds no cache: neither of bytecode nor of
rewritten code.  Later ones find both.  Each line is an exploration, in the median of the processes
with caches.  All times are processor time in seconds:

- *load*: importing what an exploration needs, the package not counted;
- *set-up*: the exploration without its executions: taking control and giving it back, and runs
  that showed more code to rewrite or more that is shared, after which the search began anew;
- *executions*: how many there were after that, and what they took.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

EXPLORATIONS = 3


def test() -> None:
    """Two threads fill a table each."""
    from rich.table import Table

    def fill(name: str) -> None:
        table = Table("key", "value", title=name)
        table.add_row("one", "1")
        assert table.row_count == 1

    threads = [threading.Thread(target=fill, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def explore_often() -> list[dict[str, float]]:
    """Explore the test several times in this process."""
    import rich.table  # noqa: F401 - the package is not what is measured

    begun = time.process_time()
    from mazurka.runtime.exploring.entry import explore_test
    from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError
    from mazurka.runtime.testing.decorator import choose_options, make_test

    load = time.process_time() - begun
    runs: list[float] = []
    clock, run = time.process_time, ObservedProgram.run

    def measured(program: Any, decider: Any) -> Any:
        before = clock()
        try:
            ended = run(program, decider)
        except RelearnError:
            runs.clear()  # the search begins anew
            raise
        runs.append(clock() - before)
        return ended

    kind: Any = ObservedProgram
    kind.run = measured
    found = []
    for number in range(EXPLORATIONS):
        runs.clear()
        begun = time.process_time()
        result = explore_test(make_test(test, test), choose_options(test, {}))
        whole = time.process_time() - begun
        assert result.verdict == "holds", result
        found.append(
            {
                "load": 0.0 if number else load,
                "set-up": whole - sum(runs),
                "count": len(runs),
                "executions": sum(runs),
            }
        )
    return found


def in_fresh_process(folder: Path) -> list[dict[str, float]]:
    """Explore in a process of its own that keeps its caches in a folder."""
    surroundings = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "MAZURKA_CACHE_DIR": str(folder / "cache"),
    }
    command = [sys.executable, __file__, "--here"]
    ran = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


def show(label: str, ones: list[dict[str, float]]) -> None:
    middle = {key: statistics.median(one[key] for one in ones) for key in ones[0]}
    print(
        f"{label:36} {middle['load']:>6.2f} {middle['set-up']:>8.2f}"
        f" {middle['count']:>6.0f} in {middle['executions']:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=7, help="how many find caches")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(explore_often()))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'':36} {'load':>6} {'set-up':>8} {'executions':>14}")
        show("no cache, first exploration", in_fresh_process(Path(folder))[:1])
        rounds = [in_fresh_process(Path(folder)) for _ in range(given.processes)]
        for number, label in enumerate(("first", "second", "third")):
            show(f"caches on disk, {label} exploration", [one[number] for one in rounds])


if __name__ == "__main__":
    main()
