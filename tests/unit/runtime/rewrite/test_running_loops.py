"""Event loops that threads run which are not under control."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.runtime.rewrite.running_loops import find_driven

WAITING = """
import asyncio

event = None
began = False

async def wait():
    await event.wait()

async def go(pipe):
    global event, began
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(mark)
    await wait()
    pipe.close()

def mark():
    global began
    began = True
"""
PROGRAM = """
import threading

def run(go_on):
    go_on()
    found = []
    threads = [threading.Thread(target=found.append, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
"""


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread of its own, as some packages start one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_a_coroutine_that_another_thread_goes_on_with_is_no_code_of_the_test(
    loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    """Before, every verdict of the session was inconclusive."""
    away = module_of(tmp_path, WAITING)
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    module = module_of(project, PROGRAM)
    reading, writing = os.pipe()
    asyncio.run_coroutine_threadsafe(away.go(os.fdopen(writing, "wb")), loop)
    while not away.began:
        threading.Event().wait(0.001)
    gc.collect()

    def go_on() -> None:
        """Let the coroutine go on, and wait until it has ended."""
        loop.call_soon_threadsafe(away.event.set)
        os.read(reading, 1)

    result = mazurka.explore(lambda: module.run(go_on), preemptions=1)
    os.close(reading)
    assert not [name for name in result.not_observed if "begun before" in name]
    assert result.verdict == "holds"


def test_what_coroutines_wait_for_is_found_with_them(loop: asyncio.AbstractEventLoop) -> None:
    inner = asyncio.sleep(100)

    async def outer() -> None:
        await inner

    coroutine = outer()
    asyncio.run_coroutine_threadsafe(coroutine, loop)
    while id(inner) not in find_driven():
        threading.Event().wait(0.001)
    assert id(coroutine) in find_driven()


def test_a_loop_that_nobody_runs_goes_on_with_nothing() -> None:
    loop = asyncio.new_event_loop()
    coroutine = asyncio.sleep(100)
    task = loop.create_task(coroutine)
    assert id(coroutine) not in find_driven()
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
