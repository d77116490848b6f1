"""Small programs with threads, right and wrong, as somebody would write them in a test.

Each is a function without arguments.  What is known of it stands in `PROGRAMS`: whether every
schedule passes, and otherwise how it fails and with how many preemptions at least.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Known:
    program: Callable[[], object]
    kind: str | None = None
    """How it fails; None if it never does."""
    preemptions: int = 0
    """The fewest that show it."""


def run(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- shared data


class Account:
    def __init__(self) -> None:
        self.balance = 0
        self.lock = threading.Lock()

    def deposit(self, amount: int) -> None:
        self.balance += amount

    def deposit_safely(self, amount: int) -> None:
        with self.lock:
            self.balance += amount


def lost_update() -> None:
    account = Account()
    run(lambda: account.deposit(1), lambda: account.deposit(1))
    assert account.balance == 2


def kept_update() -> None:
    account = Account()
    run(lambda: account.deposit_safely(1), lambda: account.deposit_safely(1))
    assert account.balance == 2


class Owner:
    """Two objects that lock each other: the owner is asked under the lock of the one owned."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner: Owner | None = None

    def touch(self) -> None:
        with self.lock:
            if self.owner is not None:
                with self.owner.lock:
                    pass


def lock_order() -> None:
    one, two = Owner(), Owner()
    one.owner, two.owner = two, one
    run(one.touch, two.touch)


def lock_order_kept() -> None:
    one, two = Owner(), Owner()
    one.owner = two
    run(one.touch, two.touch, one.touch)


# -- events


class Box:
    def __init__(self) -> None:
        self.ready = threading.Event()
        self.value: int | None = None


def event_before_write() -> None:
    box = Box()

    def produce() -> None:
        box.ready.set()
        box.value = 1

    def consume() -> None:
        box.ready.wait()
        assert box.value == 1

    run(produce, consume)


def event_after_write() -> None:
    box = Box()

    def produce() -> None:
        box.value = 1
        box.ready.set()

    def consume() -> None:
        box.ready.wait()
        assert box.value == 1

    run(produce, consume)


# -- executors


def inner_executor() -> None:
    account = Account()
    with ThreadPoolExecutor(max_workers=2) as pool:
        for future in [pool.submit(account.deposit, 1) for _ in range(2)]:
            future.result()
    assert account.balance == 2


def inner_executor_safe() -> None:
    account = Account()
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(account.deposit_safely, [1, 1]))
    assert account.balance == 2


# -- conditions


def lost_wake_up() -> None:
    condition = threading.Condition()

    def wait() -> None:
        with condition:
            condition.wait()

    def wake() -> None:
        with condition:
            condition.notify()

    run(wait, wake)


def wake_up() -> None:
    condition = threading.Condition()
    ready: list[int] = []

    def wait() -> None:
        with condition:
            while not ready:
                condition.wait()

    def wake() -> None:
        with condition:
            ready.append(1)
            condition.notify()

    run(wait, wake)


# -- locks of a module

MODULE_LOCK = threading.Lock()
OTHER_LOCK = threading.Lock()


def module_locks() -> None:
    def one() -> None:
        with MODULE_LOCK, OTHER_LOCK:
            pass

    def two() -> None:
        with OTHER_LOCK, MODULE_LOCK:
            pass

    run(one, two)


def module_lock_kept() -> None:
    account = Account()

    def deposit() -> None:
        with MODULE_LOCK:
            account.deposit(1)

    run(deposit, deposit)
    assert account.balance == 2


# -- loops


class Flag:
    def __init__(self) -> None:
        self.up = False


def spin_for_ever() -> None:
    flag = Flag()

    def wait() -> None:
        while not flag.up:
            pass

    run(wait)


def spin() -> None:
    flag = Flag()

    def wait() -> None:
        while not flag.up:
            time.sleep(0)

    def raise_flag() -> None:
        flag.up = True

    run(wait, raise_flag)


# -- queues


def queue_without_end() -> None:
    jobs: queue.Queue[Any] = queue.Queue()

    def work() -> None:
        while jobs.get() is not None:
            pass

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    jobs.put(1)
    jobs.put(None)
    for worker in workers:
        worker.join()


def queue_with_end() -> None:
    jobs: queue.Queue[Any] = queue.Queue()
    done: queue.Queue[Any] = queue.Queue()

    def work() -> None:
        while (job := jobs.get()) is not None:
            done.put(job + 1)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    jobs.put(1)
    for _ in workers:
        jobs.put(None)
    for worker in workers:
        worker.join()
    assert done.get() == 2


# -- barriers


def barrier_short_of_one() -> None:
    barrier = threading.Barrier(3)
    run(barrier.wait, barrier.wait)


def barrier_met() -> None:
    barrier = threading.Barrier(2)
    seen: list[int] = []

    def pass_through() -> None:
        seen.append(1)
        barrier.wait()
        assert len(seen) == 2

    run(pass_through, pass_through)


# -- threads


def thread_left_behind() -> None:
    event = threading.Event()
    threading.Thread(target=event.wait).start()


def failing_thread() -> None:
    def fail() -> None:
        raise ValueError("no")

    run(fail)


PROGRAMS = [
    Known(lost_update, "assert", 1),
    Known(kept_update),
    Known(lock_order, "deadlock", 1),
    Known(lock_order_kept),
    Known(event_before_write, "assert", 1),
    Known(event_after_write),
    Known(inner_executor, "assert", 1),
    Known(inner_executor_safe),
    Known(lost_wake_up, "deadlock"),
    Known(wake_up),
    Known(module_locks, "deadlock", 1),
    Known(module_lock_kept),
    Known(spin_for_ever, "livelock"),
    Known(spin),
    Known(queue_without_end, "deadlock"),
    Known(queue_with_end),
    Known(barrier_short_of_one, "deadlock"),
    Known(barrier_met),
    Known(thread_left_behind, "leak"),
    Known(failing_thread, "exception"),
]
