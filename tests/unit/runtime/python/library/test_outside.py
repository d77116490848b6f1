"""What goes on in an order that no search chooses makes a verdict inconclusive."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import mazurka


def run(*works: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


async def give(number: int) -> int:
    await asyncio.sleep(0)
    return number


def several_tasks() -> None:
    async def main() -> None:
        assert await asyncio.gather(give(1), give(2)) == [1, 2]

    asyncio.run(main())


def sleeps() -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.sleep(0.01), asyncio.sleep(0.02))

    asyncio.run(main())


def a_timeout() -> None:
    async def main() -> None:
        waiting = asyncio.create_task(asyncio.Event().wait())
        await asyncio.wait({waiting}, timeout=3600)

    asyncio.run(main())


def several_callbacks() -> None:
    loop = asyncio.new_event_loop()
    found: list[int] = []
    loop.call_soon(found.append, 1)
    loop.call_soon(found.append, 2)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert found == [1, 2]


class Nothing(selectors.BaseSelector):
    """A selector of the program's own, which asks nobody."""

    def __init__(self) -> None:
        self.keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        self.keys[fileobj] = selectors.SelectorKey(fileobj, 0, events, data)
        return self.keys[fileobj]

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self.keys.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[Any]:
        return []

    def get_map(self) -> Any:
        return self.keys


class OwnTask(asyncio.Task[Any]):
    def __init__(self, work: Any, **named: Any) -> None:
        super().__init__(work, **named)


def a_loop_of_its_own() -> None:
    async def main() -> None:
        assert await asyncio.gather(give(1), give(2)) == [1, 2]

    loop = asyncio.SelectorEventLoop(Nothing())
    loop.set_task_factory(lambda loop, work, **named: OwnTask(work, loop=loop, **named))
    loop.run_until_complete(main())
    loop.close()


def a_selector() -> None:
    one, other = socket.socketpair()
    with one, other, selectors.DefaultSelector() as chosen:
        chosen.register(other, selectors.EVENT_READ)
        one.sendall(b"x")
        assert chosen.select(1)


def ends_of_a_socket() -> None:
    one, other = socket.socketpair()
    with one, other:
        other.sendall(b"y")
        run(lambda: one.sendall(b"x"), lambda: other.setblocking(False))


def ends_of_a_pipe() -> None:
    source, target = os.pipe()
    os.write(target, b"x")
    run(lambda: os.write(target, b"y"), lambda: os.read(source, 1))
    os.close(source)
    os.close(target)


def files_of_a_pipe() -> None:
    source, target = os.pipe()
    with os.fdopen(source, "rb", 0) as reader, os.fdopen(target, "w") as writer:
        print("x", file=writer, flush=True)
        run(lambda: print("y", file=writer, flush=True), lambda: reader.read(1))


def ends_of_a_connection() -> None:
    one, other = multiprocessing.Pipe()
    other.send(1)
    run(lambda: one.send(2), lambda: one.recv())


UNDECIDED = {
    several_tasks: "asyncio.tasks",
    sleeps: "asyncio.tasks",
    a_timeout: "asyncio.tasks",
    several_callbacks: "asyncio.events",
    a_loop_of_its_own: "asyncio.tasks",
    a_selector: "select.",
    ends_of_a_socket: "socket.socket",
    ends_of_a_pipe: "os.",
    files_of_a_pipe: "io.",
    ends_of_a_connection: "os.",
}


@pytest.mark.parametrize("program", UNDECIDED)
def test_what_has_an_order_that_is_not_explored(program: Callable[[], None]) -> None:
    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "inconclusive", result.report()
    assert "the order of " in result.scope
    assert UNDECIDED[program] in result.scope.partition(" is not explored")[0]


def one_task() -> None:
    async def main() -> int:
        return await give(1) + await give(2)

    assert asyncio.run(main()) == 3


def one_sleep() -> None:
    asyncio.run(asyncio.sleep(3600))
    run(lambda: asyncio.run(asyncio.sleep(3600)))


def a_socket_of_one_thread() -> None:
    one, other = socket.socketpair()
    with one, other:
        run(lambda: one.sendall(b"x"))
        assert other.recv(1) == b"x"


def a_process_of_one_thread() -> None:
    command = [sys.executable, "-S", "-c", "print(5)"]
    found: list[bytes] = []
    run(lambda: found.append(subprocess.run(command, capture_output=True, check=True).stdout))
    assert found == [b"5\n"]


def printing() -> None:
    run(lambda: print("x"), lambda: sys.stderr.write("y"))


def a_pool() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(abs, [-1, 2])) == [1, 2]


@pytest.mark.parametrize(
    "program",
    [one_task, one_sleep, a_socket_of_one_thread, a_process_of_one_thread, printing, a_pool],
)
def test_what_leaves_no_choice_is_decided(program: Callable[[], None]) -> None:
    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds", result.report()


def test_a_failure_that_is_found_is_one() -> None:
    def program() -> None:
        count = [0]

        async def add() -> None:
            before = count[0]
            await asyncio.sleep(0.01)
            count[0] = before + 1

        async def main() -> None:
            await asyncio.gather(add(), add())

        asyncio.run(main())
        assert count == [2]

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


def test_a_module_that_is_left_out_is_accepted() -> None:
    result = mazurka.explore(ends_of_a_pipe, preemptions=1, leave_out=("os", "asyncio"))
    assert result.verdict == "holds", result.report()


def test_a_second_task_that_nobody_notes_is_found_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant decides what the tests above leave open."""
    monkeypatch.setattr("mazurka.runtime.python.calls.is_task", lambda kind: False)
    assert mazurka.explore(a_loop_of_its_own, preemptions=1).verdict == "holds"
