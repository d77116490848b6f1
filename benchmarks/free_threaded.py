"""Confirm by real runs which calls of C code take several steps without a global lock.

    python3.14t benchmarks/free_threaded.py --seconds 2

For each program of `tests/soundness/free_threaded_programs.py`, two threads run it in a loop
without Mazurka, on many elements, until the first one does not see the invariant or the time is
over.  Then Mazurka explores it with three elements in both semantics.  Prints a line for each
program: how often the invariant was broken, in how many calls, and the two verdicts.  On an
interpreter with a global lock, no invariant is broken.

The status is 1 if a program breaks its invariant that holds without a global lock according to
Mazurka, or if a verdict is not the expected one.  `--only TEXT` selects programs by a part of their
names.  Run from the repository root.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.free_threaded_programs import DIFFERENT, SAME, Program

import mazurka

FEW = 3
TWO_CALLS = ("l == m",)
"""Programs whose check makes two calls, so that a loop of changes breaks the invariant anyway."""


def run_really(program: Program, size: int, seconds: float) -> tuple[int, int]:
    """Run a program in two threads; return how often its invariant was broken, and the calls."""
    values = program.make(size)
    over = threading.Event()

    def change() -> None:
        while not over.is_set():
            program.change(values, size)

    changing = threading.Thread(target=change)
    changing.start()
    broken = calls = 0
    until = time.perf_counter() + seconds
    try:
        while time.perf_counter() < until and broken < 3:
            calls += 1
            broken += not holds(program, values, size)
    finally:
        over.set()
        changing.join()
    return broken, calls


def holds(program: Program, values: Any, size: int) -> bool:
    """Check the invariant; an iteration that another thread disturbs breaks it, too."""
    try:
        return program.check(values, size)
    except RuntimeError:
        return False


def explore(program: Program, semantics: str) -> str:
    """Return the verdict of Mazurka about one check beside one change."""

    def scenario() -> None:
        values = program.make(FEW)
        seen: list[bool] = []
        threads = [
            threading.Thread(target=lambda: seen.append(program.check(values, FEW))),
            threading.Thread(target=lambda: program.change(values, FEW)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [True]

    return mazurka.explore(scenario, semantics=semantics).verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each program")
    parser.add_argument("--size", type=int, default=2000, help="elements of a container")
    parser.add_argument("--only", default="", help="a part of the name of a program")
    arguments = parser.parse_args()
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {sys.version.split()[0]}, {'with' if locked else 'without'} a global lock")
    print(f"{'program':<28} {'broken':>6} {'calls':>9}  gil       free-threaded")
    seen = bad = 0
    for name, program in (DIFFERENT | SAME).items():
        if arguments.only not in name:
            continue
        broken, calls = (0, 0)
        if name not in TWO_CALLS:
            broken, calls = run_really(program, arguments.size, arguments.seconds)
        verdicts = explore(program, "gil"), explore(program, "free-threaded")
        expected = "holds", "violated" if name in DIFFERENT else "holds"
        wrong = verdicts != expected or (broken and (locked or name in SAME))
        seen += bool(broken)
        bad += bool(wrong)
        print(
            f"{name:<28} {broken:>6} {calls:>9,}  {verdicts[0]:<9} {verdicts[1]}"
            f"{'  WRONG' if wrong else ''}",
            flush=True,
        )
    print(f"{seen} programs break their invariants in real runs; {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
