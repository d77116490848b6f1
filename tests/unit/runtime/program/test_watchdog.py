"""Calls that nobody controls are reported, and nothing hangs."""

from __future__ import annotations

import _thread
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import pytest
from tests.limits import ENOUGH
from tests.unit.runtime.runtime_deciders import Follow

from mazurka.runtime.core.collection import is_frozen
from mazurka.runtime.core.failures import ControlError
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.program import watchdog
from mazurka.runtime.program.program import RealProgram
from mazurka.runtime.program.watchdog import Look, UncontrolledCallError
from mazurka.stateless.runs import Operation

real_lock = _thread.allocate_lock
HASTY = ControlSettings(patience=0.3, pin=False)
real_sleep = time.sleep


def test_a_thread_that_waits_for_a_socket() -> None:
    here, there = socket.socketpair()
    original = threading.Lock

    def receive() -> None:
        here.recv(1)

    def test() -> None:
        thread = threading.Thread(target=receive, name="receiver")
        thread.start()
        thread.join()

    with RealProgram(test, HASTY) as program:
        with pytest.raises(UncontrolledCallError) as caught:
            program.run(Follow())
        with pytest.raises(ControlError, match="out of control"):
            program.run(Follow())
    failed = caught.value.failed
    assert (failed.kind, failed.thread, failed.file) == ("uncontrolled", 1, __file__)
    assert "thread receiver is blocked in a call that is not under control" in failed.message
    assert "here.recv(1)" in failed.message
    assert failed.line == receive.__code__.co_firstlineno + 1
    assert threading.Lock is original
    there.close()
    here.close()


def test_the_test_itself_blocks_on_a_lock_that_cannot_be_reached() -> None:
    (lock,) = hidden = {_thread.allocate_lock()}
    lock.acquire()
    with pytest.raises(UncontrolledCallError, match="thread main is blocked"):
        RealProgram(lambda: next(iter(hidden)).acquire(), HASTY).run(Follow())
    lock.release()


def test_a_thread_that_computes_for_ever() -> None:
    stop: list[int] = []

    def test() -> None:
        while not stop:
            pass

    with pytest.raises(UncontrolledCallError, match="has computed without reaching"):
        RealProgram(test, HASTY).run(Follow())
    stop.append(1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_threads_that_wait_for_a_processor_are_known() -> None:
    """Asked in another process, which has no threads but those of this test."""
    text = (
        "import threading\n"
        "from mazurka.runtime.program.watchdog import is_anyone_runnable\n"
        "end = threading.Event()\n"
        "threading.Thread(target=end.wait, daemon=True).start()\n"
        "while is_anyone_runnable(): pass\n"  # until the thread waits
        "def compute():\n"
        "    while not end.is_set(): pass\n"
        "threading.Thread(target=compute).start()\n"
        "while not is_anyone_runnable(): pass\n"
        "end.set()\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


@pytest.mark.parametrize(
    ("computed", "by_all", "waiting", "seconds", "over"),
    [
        (0.0, 0.0, False, 4, True),  # blocked in a call
        (0.0, 0.0, False, 3, False),
        (0.01, 0.01, True, 100, False),  # other processes keep it from computing
        (0.0, 0.01, True, 100, False),  # or keep the thread that it waits for
        (0.0, 1.0, True, 7, True),  # blocked in a call, while another thread computes
        (1.0, 1.0, True, 4, True),  # a long loop
        (1.0, 1.0, False, 4, True),
        (0.2, 0.2, False, 4, False),  # computes a little: four times longer
        (0.2, 0.2, False, 17, True),
    ],
)
def test_patience(
    computed: float,
    by_all: float,
    waiting: bool,
    seconds: int,
    over: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second at a time; patience is of 4 s; `computed` and `by_all` are shares of a processor."""
    clock = [0.0]
    monkeypatch.setattr(watchdog, "_now", lambda: clock[0])
    look = Look(10.0, 20.0)
    for second in range(1, seconds + 1):
        clock[0] += 1
        look.again(10.0 + computed * second, 20.0 + by_all * second, waiting, 4.0)
    assert look.is_over(4.0) is over


class Slow(Follow):
    """A search that thinks longer than threads may be silent."""

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        until = time.process_time() + 1
        while time.process_time() < until:
            pass
        return super().decide(pending, enabled, last)


def test_a_search_may_think() -> None:
    settings = ControlSettings(patience=0.1, pin=False)
    ended = RealProgram(lambda: threading.Lock().acquire(), settings).run(Slow())
    assert ended.failures == []


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_an_interrupt_ends_a_search_and_puts_everything_back() -> None:
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
    original = threading.Lock
    runs: list[int] = []

    def test() -> None:
        lock = threading.Lock()
        threads = [threading.Thread(target=lock.acquire, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()

    def search() -> None:
        while True:
            program.run(Follow())
            runs.append(1)
            if len(runs) == 20:
                os.kill(os.getpid(), signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt), RealProgram(test, HASTY) as program:
            program.supervise(search)
    finally:
        signal.signal(signal.SIGINT, ignored)
    assert len(runs) >= 20
    assert threading.Lock is original


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_call_that_comes_back_too_late_changes_nothing(in_thread: bool) -> None:
    """The search that waited for it ends, instead of beginning a run when nobody looks."""
    reading, writing = os.pipe()
    over = real_lock()
    over.acquire()
    waits: list[int] = []

    def wait() -> None:
        waits.append(1)
        os.read(reading, 1)

    def test() -> None:
        if in_thread:
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join()
        else:
            wait()

    def search() -> None:
        try:
            while True:
                program.run(Follow())
        finally:
            over.release()

    with RealProgram(test, HASTY) as program, pytest.raises(UncontrolledCallError):
        program.supervise(search)
    os.write(writing, b"x" * 100)
    assert over.acquire(timeout=ENOUGH)
    assert waits == [1]
    assert session.current.program is None
    assert not is_frozen()
    with RealProgram(lambda: None, HASTY) as program:
        assert program.run(Follow()).failures == []
    os.close(reading)
    os.close(writing)
