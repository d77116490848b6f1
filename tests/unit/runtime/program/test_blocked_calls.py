"""Calls that nobody controls are told with the user's line and with what to do; never a hang."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from inspect import getsourcelines

import pytest

import mazurka
from mazurka.runtime.core.scheduler import Scheduler
from mazurka.runtime.core.tasks import Life, Task
from mazurka.runtime.program.blocked import describe_blocked

log = logging.getLogger("mazurka.tests.blocked")


def in_a_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def waits_for_a_socket() -> None:
    one, other = socket.socketpair()
    with one, other:
        in_a_thread(lambda: one.recv(1))  # here


def waits_for_a_pipe() -> None:
    read, _ = os.pipe()
    in_a_thread(lambda: select.select([read], [], [], 60))  # here


def waits_for_a_process() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(20)"]
    in_a_thread(lambda: subprocess.run(command, check=False))  # here


def waits_for_another_process() -> None:
    end, _ = multiprocessing.Pipe()
    in_a_thread(lambda: end.recv())  # here


def waits_in_a_loop() -> None:
    async def ask() -> int:
        return await asyncio.to_thread(int)

    asyncio.run(ask())  # here


@pytest.mark.parametrize(
    ("program", "advice"),
    [
        (waits_for_a_socket, "sockets are not under control"),
        (waits_for_a_pipe, "sockets are not under control"),
        (waits_for_a_process, "other processes are not under control"),
        (waits_for_another_process, "other processes are not under control"),
    ],
)
def test_the_line_and_what_to_do(program: Callable[[], None], advice: str) -> None:
    result = mazurka.explore(program, preemptions=0, patience=0.5)
    assert result.error is not None, result.report()
    lines, first = getsourcelines(program)
    line = first + next(number for number, text in enumerate(lines) if "# here" in text)
    assert result.error.line == line
    assert str(result.error.file).endswith("test_blocked_calls.py")
    text = str(result.error)
    assert "is blocked in a call that is not under control" in text
    assert f"what to do: {advice}" in text
    assert f"{os.sep}mazurka{os.sep}runtime{os.sep}program{os.sep}watchdog.py" not in text


def sends_by_a_socket() -> None:
    one, other = socket.socketpair()
    with one, other:
        threads = [
            threading.Thread(target=lambda: other.recv(1)),
            threading.Thread(target=lambda: one.sendall(b"x")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("program", [waits_in_a_loop, sends_by_a_socket])
def test_a_thread_that_waits_for_one_that_could_go_on(program: Callable[[], None]) -> None:
    result = mazurka.explore(program, preemptions=1, patience=0.5)
    assert result.verdict == "inconclusive", result.report()
    assert "outside is not explored: " in result.scope
    assert "test_blocked_calls.py:" in result.scope
    assert "what to do: " in result.scope


def test_a_blocked_thread_does_not_keep_others_from_beginning_generators() -> None:
    """The exception that is to end the thread stays pending; nobody else must wait for it."""
    assert mazurka.explore(waits_for_a_pipe, preemptions=0, patience=0.5).verdict == "error"

    def program() -> None:
        count = [0]

        async def add() -> None:
            count[0] += 1

        def run() -> None:
            with suppress(StopIteration):
                add().send(None)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert count[0] == 2

    result = mazurka.explore(program, preemptions=1, patience=5)
    assert result.verdict == "violated", result.report()


def test_a_loop_of_its_own_in_a_thread() -> None:
    async def nothing() -> int:
        await asyncio.sleep(0.001)
        return 1

    found: list[int] = []
    result = mazurka.explore(
        lambda: in_a_thread(lambda: found.append(asyncio.run(nothing()))), preemptions=1
    )
    assert result.verdict == "holds", result.report()


def test_what_a_logger_remembers_is_its_own_business() -> None:
    log.manager._clear_cache()  # type: ignore[attr-defined]

    def program() -> None:
        in_a_thread(lambda: log.debug("nobody listens"))

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds", result.report()


def test_an_exception_without_any_line_of_the_user() -> None:
    def program() -> None:
        thread = threading.Thread(target=int, args=("x",))
        thread.start()
        thread.join()

    result = mazurka.explore(program, preemptions=0)
    assert result.violation is not None
    assert result.violation.file is None
    assert "threading.py" not in result.report(200)
    assert "✗ Thread-1 (int)   ValueError: invalid literal" in result.report(200)


def test_a_thread_that_nothing_carries_yet() -> None:
    """The watchdog may look while the next thread is being set up: it has no frames then."""
    run = Scheduler(None, 0)
    run.running = Task(0, "0", Life("0"), [])
    run.tasks = [run.running]

    failed = describe_blocked(run, 5.0, busy=False)

    assert "is blocked in a call that is not under control for 5.0 s" in failed.message
    assert (failed.file, failed.line) == (None, None)
    assert len(failed.details) == 1
