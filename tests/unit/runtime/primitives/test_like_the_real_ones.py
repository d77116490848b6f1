"""Each primitive under control answers, alone, exactly as the real one does."""

from __future__ import annotations

import copy
import pickle
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from re import sub
from typing import Any

import pytest
from runtime_deciders import run_once

from mazurka import explore

Log = list[Any]
Script = Callable[[Callable[..., None]], None]


def recorded(script: Script) -> Log:
    """What the calls of a script return or raise."""
    log: Log = []

    def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        try:
            log.append(function(*arguments, **named))
        except Exception as error:
            log.append((type(error).__name__, sub("0x[0-9a-f]+", "", str(error))))

    script(call)
    return log


def lock(call: Callable[..., None]) -> None:
    it = threading.Lock()
    call(it.release)
    call(it.acquire)
    call(it.acquire, False)
    call(it.acquire, blocking=False)
    call(it.acquire, timeout=0.001)
    call(it.acquire, True, 0.001)
    call(it.acquire, False, 1)
    call(it.acquire, timeout=-2)
    call(it.locked)
    call(it.release)
    call(it.locked)
    with it as entered:
        call(lambda: entered)
    call(lambda: repr(it).split(" at ")[0])
    call(isinstance, it, type(threading.Lock()))


def rlock(call: Callable[..., None]) -> None:
    it = threading.RLock()
    call(it.release)
    call(it.acquire)
    call(it.acquire, False)
    call(it.acquire, timeout=1)
    call(it.acquire, False, 1)
    call(it.acquire, timeout=-2)
    call(it.release)
    call(it.release)
    call(it.release)
    call(it.release)
    with it, it as entered:
        call(lambda: entered)
    call(lambda: repr(it).split(" object")[0])


def condition(call: Callable[..., None]) -> None:
    for it in (threading.Condition(), threading.Condition(threading.Lock())):
        call(it.wait)
        call(it.notify)
        call(it.notify_all)
        with it:
            call(it.wait, 0.001)
            call(it.wait, 0)
            call(it.wait_for, lambda: True)
            call(it.wait_for, lambda: 0, 0.001)
            call(it.notify)
            call(it.notify, 5)
            call(it.notify_all)
        call(it.acquire)
        call(it.acquire, False)
        call(it.release)


def condition_on_something_else(call: Callable[..., None]) -> None:
    class Mine:
        def __init__(self) -> None:
            self.inner = threading.Lock()

        def acquire(self, *arguments: Any) -> bool:
            return self.inner.acquire(*arguments)

        def release(self) -> None:
            self.inner.release()

        def locked(self) -> bool:  # which conditions ask for from Python 3.14 on
            return self.inner.locked()

        def __enter__(self) -> bool:
            return self.acquire()

        def __exit__(self, *error: Any) -> None:
            self.release()

    it = threading.Condition(Mine())  # type: ignore[arg-type]
    call(it.wait)
    with it:
        call(it.wait, 0.001)
        call(it.notify)


def semaphores(call: Callable[..., None]) -> None:
    call(threading.Semaphore, -1)
    for kind in (threading.Semaphore, threading.BoundedSemaphore):
        it = kind(1)
        call(it.acquire)
        call(it.acquire, False)
        call(it.acquire, timeout=0.001)
        call(it.acquire, blocking=False, timeout=1)
        call(it.release)
        call(it.release, 0)
        call(it.release)
        call(it.acquire, False)
        call(it.acquire, False)
        call(it.acquire, False)
        call(it.release)
        with it as entered:
            call(lambda entered=entered: entered)


def event(call: Callable[..., None]) -> None:
    it = threading.Event()
    call(it.is_set)
    call(it.wait, 0.001)
    call(it.set)
    call(it.set)
    call(it.wait)
    call(it.wait, 0)
    call(it.clear)
    call(it.is_set)


def barrier(call: Callable[..., None]) -> None:
    done: list[int] = []
    it = threading.Barrier(1, action=lambda: done.append(1))
    call(it.wait)
    call(it.wait)
    call(lambda: (len(done), it.parties, it.n_waiting, it.broken))
    two = threading.Barrier(2)
    call(two.wait, 0.001)
    call(lambda: two.broken)
    call(two.wait)
    call(two.reset)
    call(lambda: two.broken)
    call(two.abort)
    call(two.wait, 5)


@pytest.mark.parametrize("kind", [queue.Queue, queue.LifoQueue, queue.PriorityQueue])
def test_queues(kind: type[Any]) -> None:
    def script(call: Callable[..., None]) -> None:
        it = kind(2)
        call(it.get, False)
        call(it.get_nowait)
        call(it.get, timeout=0.001)
        call(it.get, timeout=-1)
        call(it.put, timeout=-1, item=1)
        call(it.join)
        call(it.task_done)
        call(it.put, 2)
        call(it.put, 1, False)
        call(it.put_nowait, 3)
        call(it.put, 3, timeout=0.001)
        call(lambda: (it.qsize(), it.empty(), it.full(), it.unfinished_tasks, it.maxsize))
        with it.mutex:
            call(lambda: len(it.queue))
        call(it.get)
        call(it.task_done)
        call(it.get)
        call(it.task_done)
        call(it.join)
        call(it.get, block=False)
        if hasattr(it, "shutdown"):
            call(it.put, 1)
            call(it.shutdown)
            call(it.put, 2)
            call(it.get)
            call(it.get)
            call(it.shutdown, immediate=True)
            call(it.get_nowait)

    assert controlled(script) == recorded(script)


def simple_queue(call: Callable[..., None]) -> None:
    it: queue.SimpleQueue[int] = queue.SimpleQueue()
    call(it.get, False)
    call(it.get_nowait)
    call(it.get, timeout=0.001)
    call(it.get, timeout=-1)
    call(it.put, 1)
    call(it.put, 2, False, 5)
    call(it.put_nowait, 3)
    call(lambda: (it.qsize(), it.empty()))
    call(it.get)
    call(it.get)
    call(it.get)
    call(it.empty)
    call(isinstance, it, queue.SimpleQueue)


def threads(call: Callable[..., None]) -> None:
    it = threading.Thread(target=lambda: None, name="it")
    call(it.is_alive)
    call(it.join)
    call(lambda: it.ident)
    call(it.start)
    call(it.join)
    call(it.is_alive)
    call(it.start)
    call(it.join, 1)
    call(lambda: it.ident is None)
    call(setattr, it, "daemon", True)
    call(lambda: threading.current_thread().join())
    call(lambda: (it.name, it.daemon))
    call(lambda: threading.current_thread() is threading.main_thread())
    call(lambda: it in threading.enumerate())


def future(call: Callable[..., None]) -> None:
    it: Future[int] = Future()
    call(it.done)
    call(it.result, 0.001)
    call(it.set_running_or_notify_cancel)
    call(it.cancel)
    call(it.set_result, 4)
    call(it.set_result, 5)
    call(it.result)
    call(it.exception)
    call(it.cancelled)


def controlled(script: Script) -> Log:
    log: Log = []

    def test() -> None:
        log.extend(recorded(script))

    ended = run_once(test)
    assert ended.failures == []
    return log


@pytest.mark.parametrize(
    "script",
    [
        lock,
        rlock,
        condition,
        condition_on_something_else,
        semaphores,
        event,
        barrier,
        simple_queue,
        threads,
        future,
    ],
    ids=lambda script: script.__name__,
)
def test_answers(script: Script) -> None:
    assert controlled(script) == recorded(script)


def notify_copy() -> None:
    condition = copy.copy(threading.Condition())
    with condition:
        condition.notify_all()


COPIED: dict[str, Callable[[], object]] = {
    "semaphore": lambda: copy.copy(threading.Semaphore(0)).release(),
    "bounded": lambda: copy.copy(threading.BoundedSemaphore(1)).acquire(),
    "event": lambda: copy.copy(threading.Event()).set(),
    "condition": notify_copy,
    "queue": lambda: copy.copy(queue.Queue[int]()).task_done(),
    "lifo": lambda: copy.copy(queue.LifoQueue[int]()).empty(),
    "thread": lambda: copy.copy(threading.Thread(target=print)).start(),
}


@pytest.mark.parametrize("name", COPIED)
def test_copies_are_refused(name: str) -> None:
    """A copy has the lock of the original and its own value: neither has the other's model."""
    result = explore(COPIED[name], preemptions=0)
    assert result.verdict == "error"
    assert "copies are not supported under control; create another" in str(result.error)


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock, queue.SimpleQueue])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_locks_cannot_be_copied(make: Callable[[], Any], duplicate: Callable[[Any], Any]) -> None:
    def script(call: Callable[..., None]) -> None:
        call(duplicate, make())

    real = recorded(script)
    controlled: Log = []
    run_once(lambda: controlled.extend(recorded(script)))
    assert controlled == real


class Begun(queue.Queue[int]):
    """A queue that is not empty when it has been made, and knows its size only then."""

    def __init__(self) -> None:
        super().__init__()
        self.first = 7

    def _init(self, maxsize: int) -> None:
        self.items: list[int] = []

    def _qsize(self) -> int:
        return len(self.items) + (self.first is not None)

    def _put(self, item: int) -> None:
        self.items.append(item)

    def _get(self) -> int:
        item, self.first = self.first, None  # type: ignore[assignment]
        return item if item is not None else self.items.pop(0)


def test_a_queue_need_not_be_empty_in_the_beginning() -> None:
    def program() -> None:
        numbers = Begun()
        assert numbers.qsize() == 1
        with numbers.mutex:
            assert numbers._qsize() == 1
        thread = threading.Thread(target=numbers.put, args=(8,))
        thread.start()
        assert [numbers.get(), numbers.get()] == [7, 8]
        thread.join()

    result = explore(program, preemptions=2)
    assert result.verdict == "holds", result.report()
