"""Measure how long handing over from one thread to another takes, by kind of baton.

    python benchmarks/batons.py --rounds 2000

Two threads on one processor core hand over to each other.  Prints microseconds for a hand-over, the
median of five measurements, and the ratio to a raw lock in the same run.  Compare interpreters by
running it with each: `python3.14 benchmarks/batons.py`, `python3.14t benchmarks/batons.py`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable

from mazurka.runtime.core.batons import Baton, QueueBaton, make_baton, make_lock_baton


class EventBaton:
    """A baton that is an event descriptor."""

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0)

    def acquire(self) -> None:
        os.eventfd_read(self._descriptor)

    def release(self) -> None:
        os.eventfd_write(self._descriptor, 1)


KINDS: dict[str, Callable[[], Baton]] = {
    "raw lock": make_lock_baton,
    "SimpleQueue": QueueBaton,
    "event descriptor": EventBaton,
}


def measure(make: Callable[[], Baton], rounds: int) -> float:
    """Return the seconds that a hand-over takes."""
    here, there = make(), make()

    def answer() -> None:
        for _ in range(rounds):
            there.acquire()
            here.release()

    thread = threading.Thread(target=answer)
    thread.start()
    started = time.perf_counter()
    for _ in range(rounds):
        there.release()
        here.acquire()
    seconds = time.perf_counter() - started
    thread.join()
    return seconds / rounds / 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2000)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"Python {sys.version.split()[0]}, used here: {type(make_baton()).__name__}")
    kinds = {name: make for name, make in KINDS.items() if name[0] != "e" or hasattr(os, "eventfd")}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(5):
        for name, make in kinds.items():
            times[name].append(measure(make, arguments.rounds))
    base = statistics.median(times["raw lock"])
    for name, seconds in times.items():
        one = statistics.median(seconds)
        print(f"  {name:<18} {one * 1e6:8.1f} µs  {one / base:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
