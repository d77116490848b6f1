"""What a report says of a thread that stands for ever: the thing by its name, who has it, and where
it was taken."""

from __future__ import annotations

import concurrent.futures
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from inspect import getsourcelines
from typing import Any

import pytest

import mazurka


def waits(program: Callable[[], None]) -> dict[str, str]:
    """The words of the report, by the name of the thread."""
    result = mazurka.explore(program, preemptions=0)
    assert result.violation is not None, result.report()
    assert result.violation.kind == "deadlock"
    found: dict[str, str] = {}
    lines = result.report(300).splitlines()
    for line in lines[lines.index("now nobody can go on:") + 1 :]:
        if not line.startswith("  ✗ "):
            break
        who, _, why = line[4:].partition("   waits ")
        found[who.partition(", ")[0]] = why  # before its line, or its call
    return found


def line_in(program: Callable[..., Any], text: str) -> int:
    lines, first = getsourcelines(program)
    return first + next(number for number, line in enumerate(lines) if text in line)


def run(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def square(number: int) -> int:
    return number * number


def test_the_holder_of_a_lock_and_its_line() -> None:
    def program() -> None:
        mine = threading.Lock()

        def keep() -> None:
            mine.acquire()  # taken here

        run(keep, mine.acquire)

    line = line_in(program, "taken here")
    assert waits(program)["Thread-2 (acquire)"] == (
        f"to acquire lock mine, held by Thread-1 (keep) since line {line}, which has ended"
    )


def test_a_lock_that_a_thread_holds_itself() -> None:
    def program() -> None:
        lock = threading.Lock()
        with lock:  # once
            lock.acquire()

    line = line_in(program, "# once")
    assert waits(program)["main"] == f"to acquire lock, held by main itself since line {line}"


def test_how_deep_a_reentrant_lock_is_taken() -> None:
    def program() -> None:
        deep = threading.RLock()
        for _ in range(3):
            deep.acquire()
        run(deep.acquire)

    assert (
        "rlock deep, taken 3 times, held by main since line" in waits(program)["Thread-1 (acquire)"]
    )


def test_a_lock_that_nothing_leads_to_is_named_by_its_creation() -> None:
    def program() -> None:
        def hidden() -> Callable[[], object]:
            made = threading.Lock()  # created here
            return made.acquire

        take = hidden()
        take()
        take()

    line = line_in(program, "created here")
    place = f"test_what_threads_wait_for.py:{line}"
    assert waits(program)["main"].startswith(f"to acquire lock created at {place}, held by main")


def test_a_condition_whose_lock_is_not_given_back() -> None:
    def program() -> None:
        ready = threading.Condition()

        def wait() -> None:
            with ready:
                ready.wait()

        def tell() -> None:
            ready.acquire()  # kept
            ready.notify()

        run(wait, tell)

    line = line_in(program, "# kept")
    assert waits(program)["Thread-1 (wait)"].startswith(
        "to acquire rlock ready again after it was notified,"
        f" held by Thread-2 (tell) since line {line}"
    )


def test_who_has_taken_from_a_semaphore() -> None:
    def program() -> None:
        places = threading.Semaphore(1)

        def park() -> None:
            places.acquire()  # the last one

        run(park, park)

    line = line_in(program, "the last one")
    assert (
        "to acquire semaphore places, whose value is 0,"
        f" last acquired by Thread-2 (park) at line {line}"
    ) in waits(program).values()


def test_how_many_have_arrived_at_a_barrier() -> None:
    def program() -> None:
        gate = threading.Barrier(3)
        run(gate.wait, gate.wait)

    found = waits(program)
    assert found["Thread-1 (wait)"] == "at barrier gate, where 2 of 3 threads have arrived"
    assert found["Thread-2 (wait)"] == found["Thread-1 (wait)"]


def test_an_event() -> None:
    def program() -> None:
        done = threading.Event()
        run(done.wait)

    assert waits(program)["Thread-1 (wait)"] == "for event done to be set"


def fill() -> None:
    jobs: queue.Queue[int] = queue.Queue(2)
    for number in range(3):
        jobs.put(number)


def drain() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    jobs.get()


def finish() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    jobs.put(1)
    jobs.join()


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (fill, "to put into queue jobs, which is full (2 of 2)"),
        (drain, "to get from queue jobs, which is empty"),
        (finish, "to join queue jobs, which has 1 unfinished task"),
    ],
)
def test_queues(program: Callable[[], None], text: str) -> None:
    assert waits(program)["main"] == text


def test_a_future_is_called_after_what_was_submitted() -> None:
    def program() -> None:
        with ThreadPoolExecutor(1) as pool:

            def outer() -> int:
                return pool.submit(square, 2).result()

            pool.submit(outer).result()

    found = waits(program)
    assert found["main"] == "for future of outer(), which has no result yet"
    assert found["ThreadPoolExecutor-0_0"] == "for future of square(2), which has no result yet"


def test_a_future_that_has_a_name() -> None:
    def program() -> None:
        answer: Future[int] = Future()
        answer.result()

    assert waits(program)["main"] == "for future answer, which has no result yet"


def wait_for_all(futures: list[Future[Any]]) -> None:
    concurrent.futures.wait(futures)


def take_each(futures: list[Future[Any]]) -> None:
    for future in concurrent.futures.as_completed(futures):
        future.result()


@pytest.mark.parametrize("collect", [wait_for_all, take_each])
def test_several_futures(collect: Callable[[list[Future[Any]]], None]) -> None:
    def program() -> None:
        gate = threading.Event()
        with ThreadPoolExecutor(2) as pool:
            collect([pool.submit(square, 1), pool.submit(gate.wait)])

    assert waits(program)["main"] == "for 1 future to be done: future of Event.wait()"


def test_an_executor_that_is_shut_down() -> None:
    def program() -> None:
        gate = threading.Event()
        pool = ThreadPoolExecutor(1)
        pool.submit(gate.wait)
        pool.shutdown()

    found = waits(program)
    assert found["main"] == "for the executor's threads to end, now for ThreadPoolExecutor-0_0"
    assert found["ThreadPoolExecutor-0_0"] == "for event gate to be set"


def test_the_place_is_one_of_the_users_lines() -> None:
    def program() -> None:
        done = threading.Event()
        run(done.wait)

    result = mazurka.explore(program, preemptions=0)
    assert result.violation is not None
    assert str(result.violation.file).endswith("test_what_threads_wait_for.py")
    assert "threading.py" not in result.report(300)
    assert "wait done" in result.report(300)


def test_json_tells_where_it_was_taken() -> None:
    def program() -> None:
        lock = threading.Lock()
        with lock:  # once
            lock.acquire()

    ending = mazurka.explore(program, preemptions=0).to_json()["ending"]
    assert isinstance(ending, list)
    assert ending[0]["holder"] == "main"
    assert ending[0]["acquired"]["thread"] == "main"
    assert ending[0]["acquired"]["line"] == line_in(program, "# once")
