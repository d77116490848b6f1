"""For every primitive, searches run each happens-before class of all schedules exactly once.

This holds only if the operations say the truth: about what they touch, in which states they can go
on, and that their threads' pasts alone decide what comes next.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from typing import Any

import pytest
from tests.unit.runtime.runtime_deciders import QUICK, Enumerate

from mazurka.runtime.core.operations import present
from mazurka.runtime.program.program import RealProgram
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.reduction.dpor import SleepingReduction
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from mazurka.stateless.reduction.sleep_sets import SleepSets
from mazurka.stateless.reduction.source_dpor import SourceSets
from mazurka.stateless.runs import Operation
from mazurka.stateless.search import Search

SEARCHES: tuple[type[Search[Any]], ...] = (
    Algorithm2,
    SleepSets,
    SleepingReduction,
    SourceSets,
    WakeupTrees,
)


class Classes(Enumerate):
    """Enumerates all schedules and notes who touched which object in which order."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: dict[int, int] = {}
        self._touched: dict[Hashable, list[Any]] = {}

    def restart(self) -> bool:
        self._steps, self._touched = {}, {}
        return super().restart()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        for number, operation in enumerate(pending):
            if operation is not None:
                assert (operation.at(present) is not None) == (number in enabled)
        chosen = super().decide(pending, enabled, last)
        self._steps[chosen] = self._steps.get(chosen, 0) + 1
        step = (chosen, self._steps[chosen])
        operation = pending[chosen]
        assert operation is not None
        for shared, written in operation.at(present) or ():
            rounds = self._touched.setdefault(shared.name, [set()])
            if written:
                rounds += [step, set()]
            else:
                rounds[-1].add(step)
        return chosen

    def happened(self) -> Hashable:
        """Accesses by object; reads between two writes in no order."""
        return frozenset(
            (name, tuple(frozenset(r) if isinstance(r, set) else r for r in rounds))
            for name, rounds in self._touched.items()
        ), tuple(sorted(self._steps.items()))


def in_threads(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def locks_in_opposite_orders() -> None:
    first, second = threading.Lock(), threading.Lock()

    def one() -> None:
        with first, second:
            pass

    def two() -> None:
        with second, first:
            pass

    in_threads(one, two)


def reentrant_lock() -> None:
    lock = threading.RLock()

    def section() -> None:
        with lock, lock:
            pass

    in_threads(section, section)


def condition(timeout: float | None) -> Callable[[], None]:
    def test() -> None:
        it = threading.Condition()

        def wait() -> None:
            with it:
                it.wait(timeout)

        def notify() -> None:
            with it:
                it.notify()

        in_threads(wait, notify)

    return test


def timed_predicate() -> None:
    it, ready = threading.Condition(), threading.Event()

    def look() -> None:
        with it:
            it.wait_for(ready.is_set, timeout=1)

    def notify() -> None:
        with it:
            ready.set()
            it.notify()

    in_threads(look, notify)


def timed_barrier() -> None:
    it = threading.Barrier(2)

    def wait() -> None:
        with suppress(threading.BrokenBarrierError):
            it.wait(1)

    in_threads(wait, wait)


def timed_get() -> None:
    channel: queue.Queue[int] = queue.Queue(1)

    def get() -> None:
        try:
            channel.get(timeout=1)
        except queue.Empty:
            channel.qsize()

    in_threads(lambda: channel.put(1), get)


def mutex_of_a_queue() -> None:
    channel: queue.Queue[int] = queue.Queue()

    def clear() -> None:
        with channel.mutex:
            channel.queue.clear()

    in_threads(lambda: channel.put(1), clear)


def pulsed_event() -> None:
    event = threading.Event()

    def pulse() -> None:
        event.set()
        event.clear()

    in_threads(event.wait, pulse)


def cancelled_timer() -> None:
    timer = threading.Timer(1, lambda: None)
    timer.start()
    timer.cancel()
    timer.join()


def spin_loop() -> None:
    event = threading.Event()

    def spin() -> None:
        while not event.is_set():
            pass

    in_threads(spin, event.set)


def spin_lock() -> None:
    lock = threading.Lock()

    def spin() -> None:
        while not lock.acquire(blocking=False):
            pass
        lock.release()

    in_threads(spin, spin)


def polls_the_clock() -> None:
    event = threading.Event()

    def poll() -> None:
        deadline = time.monotonic() + 0.001
        while time.monotonic() < deadline:
            if event.is_set():
                return

    in_threads(poll, event.set)


def tried_semaphore() -> None:
    semaphore = threading.Semaphore(1)

    def section() -> None:
        if semaphore.acquire(blocking=False):
            semaphore.release()

    in_threads(section, section)


def looks_at_a_thread() -> None:
    thread = threading.Thread(target=lambda: None)
    in_threads(thread.start, thread.is_alive)


def barrier() -> None:
    it = threading.Barrier(2)
    in_threads(it.wait, it.wait)


def executor() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert pool.submit(pow, 2, 3).result() == 8


def completed_futures() -> None:
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(pow, 2, n) for n in range(2)]
        assert {future.result() for future in as_completed(futures)} == {1, 2}
        assert wait(futures).done == set(futures)


@pytest.mark.parametrize(
    "test",
    [
        locks_in_opposite_orders,
        reentrant_lock,
        pytest.param(condition(None), id="condition"),
        pytest.param(condition(1), id="timed condition"),
        timed_predicate,
        timed_barrier,
        timed_get,
        mutex_of_a_queue,
        pulsed_event,
        cancelled_timer,
        spin_loop,
        spin_lock,
        polls_the_clock,
        tried_semaphore,
        looks_at_a_thread,
        barrier,
        executor,
    ],
)
def test_classes(test: Callable[[], None]) -> None:
    def brute_force() -> tuple[set[Hashable], set[str]]:
        decider, classes, found = Classes(), set[Hashable](), set[str]()
        while True:
            ended = program.run(decider)
            classes.add(decider.happened())
            found |= {failed.kind for failed in ended.failures}
            if not decider.restart():
                return classes, found

    with RealProgram(test, QUICK) as program:
        classes, found = program.supervise(brute_force)
        searches = [kind(program, RunOptions(stop_at_first=False)) for kind in SEARCHES]
        for search in searches:
            program.supervise(functools.partial(search.explore, None))
    for search in searches:
        assert search.explored.executions == len(classes), search.name
        assert search.explored.kinds == found, search.name
        if isinstance(search, Algorithm2 | WakeupTrees):
            assert search.explored.abandoned == 0


def test_futures_are_waited_for_in_the_same_order_in_every_run() -> None:
    with RealProgram(completed_futures, QUICK) as program:
        search = Algorithm2(program, RunOptions(stop_at_first=False))
        level = program.supervise(lambda: search.explore(0))
    assert level.complete
    assert not search.explored.failures
