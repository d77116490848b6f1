"""Executions a second of small tests with real threads, searches included.

    python benchmarks/executions.py [--seconds S] [--only NAME]

Each line is one test under one search: how many executions there are, and how many were run in a
second of the wall clock and in a second of the processor, in the median of several rounds and in
the best.  Every round is a whole exploration, with nothing known beforehand.  `watched` tests are
instrumented: accesses of shared data are seen, as under `mazurka test`.  `replay` is one schedule
again and again: what the threads and their operations cost without any search.  The last lines are
larger tests (`larger_tests.py`); of each of these, so many executions are run.  `plain` is the test
without Mazurka, on one core as under control: no exploration can be faster than that in one
process.  With `--workers N` each of them is also explored by N processes; what counts is then the
wall clock, set-up included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence

import larger_tests
from larger_tests import all_of, buffer, bus, executor, pool, service

import mazurka
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.program.program import RealProgram
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import ALGORITHMS, explore
from mazurka.stateless.runs import Decider, Operation

Test = Callable[[], None]
ROUND = 0.1
"""The least processor time of a round."""


class Account:
    def __init__(self) -> None:
        self.balance = 0


def semaphore() -> None:
    """Two threads, ten operations, all in conflict: 252 orders."""
    units = threading.Semaphore(0)

    def body() -> None:
        for _ in range(5):
            units.release()

    all_of(body, body)


def lock() -> None:
    """Two threads, ten operations on one lock: three critical sections and two, 10 orders."""
    guard = threading.Lock()

    def body(sections: int) -> None:
        for _ in range(sections):
            with guard:
                pass

    all_of(lambda: body(3), lambda: body(2))


def sections() -> None:
    """Three threads, two critical sections each: 90 orders."""
    guard = threading.Lock()

    def body() -> None:
        for _ in range(2):
            with guard:
                pass

    all_of(body, body, body)


def writes() -> None:
    """Two threads, ten writes of one attribute: 252 orders."""
    account = Account()

    def body() -> None:
        account.balance = 1
        account.balance = 2
        account.balance = 3
        account.balance = 4
        account.balance = 5

    all_of(body, body)


def deposits() -> None:
    """Two threads, two unprotected read-modify-writes each: 34 orders."""
    account = Account()

    def body() -> None:
        account.balance += 1
        account.balance += 1

    all_of(body, body)


PLAIN = (semaphore, lock, sections)
WATCHED = (semaphore, writes, deposits, sections)
LARGE = (service, executor, buffer, pool, bus)
RUNS = 1_000
"""How many executions of a large test are run."""


class Straight(Decider):
    """Lets whoever runs go on."""

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        return last if last in enabled else enabled[0]


def rates(name: str, once: Callable[[], tuple[int, int]], seconds: float) -> None:
    """Repeat an exploration; it returns its runs and its executions."""
    wall: list[float] = []
    processor: list[float] = []
    executions = 0
    until = time.process_time() + seconds
    while not wall or time.process_time() < until:
        begun, used, runs = time.perf_counter(), time.process_time(), 0
        while time.process_time() - used < ROUND:
            more, executions = once()
            runs += more
        wall.append(runs / (time.perf_counter() - begun))
        processor.append(runs / (time.process_time() - used))
    print(
        f"{name:44} {executions:>6,} {statistics.median(wall):>9,.0f}"
        f" {statistics.median(processor):>9,.0f} {max(processor):>9,.0f}",
        flush=True,
    )


def replays(program: RealProgram) -> tuple[int, int]:
    decider = Straight()
    for _ in range(200):
        program.run(decider)
    return 200, 1


def plain_runs(test: Test) -> tuple[int, int]:
    """Run a test as it is; its threads share a core, as controlled ones do."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        for _ in range(200):
            test()
    finally:
        os.sched_setaffinity(0, cores)
    return 200, 1


def by_workers(test: Test, workers: int, runs: int) -> None:
    """Explore a test by several processes, and print executions a second of the wall clock."""
    begun = time.perf_counter()
    found = mazurka.explore(test, preemptions=2, workers=workers, executions=runs)
    rate = found.executions / (time.perf_counter() - begun)
    name = f"{test.__name__}, algorithm-2, 2, {workers} workers"
    print(f"{name:44} {found.executions:>6,} {rate:>9,.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time of each line")
    parser.add_argument("--only", default="", help="lines whose name contains this")
    parser.add_argument("--workers", type=int, default=0, help="larger tests by so many processes")
    parser.add_argument("--runs", type=int, default=20_000, help="executions of these")
    given = parser.parse_args()
    print(f"{'':44} {'orders':>6} {'wall':>9} {'processor':>9} {'best':>9}")

    def measure(name: str, once: Callable[[], tuple[int, int]]) -> None:
        if given.only in name:
            rates(name, once, given.seconds)

    def searches(label: str, program: RealProgram | ObservedProgram) -> None:
        for algorithm in ALGORITHMS:
            for bound in (None, 2):
                if algorithm == "cb-dfs" and bound is None:
                    continue  # nobody wants to wait for all schedules

                def once(algorithm: str = algorithm, bound: int | None = bound) -> tuple[int, int]:
                    found = explore(program, bound, algorithm, RunOptions(stop_at_first=False))
                    return found.runs, found.executions

                measure(f"{label}, {algorithm}, {'any' if bound is None else bound}", once)

    def plain(test: Test) -> None:
        with RealProgram(test) as program:
            program.supervise(lambda: measure(f"{test.__name__}, replay", lambda: replays(program)))
            program.supervise(lambda: searches(test.__name__, program))

    def watched(test: Test) -> None:
        with ObservedProgram(test, lambda name, _: name == __name__) as observed:
            observed.supervise(lambda: searches(f"{test.__name__} (watched)", observed))

    for test in PLAIN:
        plain(test)

    def large(test: Test) -> None:
        measure(f"{test.__name__}, plain", lambda: plain_runs(test))

        def once() -> tuple[int, int]:
            options = RunOptions(stop_at_first=False, max_runs=RUNS)
            found = explore(observed, 2, "algorithm-2", options)
            return found.runs, found.executions

        with ObservedProgram(test, lambda name, _: name == larger_tests.__name__) as observed:
            observed.supervise(lambda: measure(f"{test.__name__}, algorithm-2, 2", once))
        if given.workers and given.only in test.__name__:
            by_workers(test, given.workers, given.runs)

    for test in WATCHED:
        watched(test)
    for test in LARGE:
        large(test)


if __name__ == "__main__":
    main()
