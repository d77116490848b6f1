"""Thousands of runs leave nothing behind, and an exploration leaves the interpreter as it was."""

from __future__ import annotations

import _thread
import atexit
import builtins
import contextvars
import decimal
import gc
import logging
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.runtime_deciders import QUICK, Follow, run_once

import mazurka
from mazurka import explore
from mazurka.runtime.core.collection import is_frozen
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.program.program import RealProgram


class Prepared(threading.local):
    """Prepares itself for each thread that looks at it."""

    def __init__(self) -> None:
        self.looks = 0


HOOKS = (
    *("excepthook", "unraisablehook", "displayhook", "breakpointhook"),
    *("stdin", "stdout", "stderr"),
)
LOCAL = threading.local()
PREPARED = Prepared()
VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE", default=0)


def snapshot() -> dict[str, Any]:
    kinds = (
        threading.Thread,
        threading.Condition,
        threading.Event,
        threading.Semaphore,
        threading.BoundedSemaphore,
        queue.Queue,
    )
    names = {
        f"{module.__name__}.{name}": value
        for module in (threading, _thread, queue, time)
        for name, value in vars(module).items()
        if name != "__builtins__"
    }
    methods = {
        f"{kind.__name__}.{name}": value for kind in kinds for name, value in vars(kind).items()
    }
    return {
        **names,
        **methods,
        "gc": gc.isenabled(),
        "frozen": is_frozen(),
        "cores": os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None,
        "alive": threading.active_count(),
        "tables": [
            sorted(threading._active),  # type: ignore[attr-defined]
            list(threading._limbo),  # type: ignore[attr-defined]
            len(getattr(threading, "_shutdown_locks", ())),
        ],
        "modules": set(sys.modules),
        "hooks": [getattr(sys, name) for name in HOOKS],
        "tracing": [sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()],
        "finders": [*sys.meta_path, *sys.path_hooks],
        "limits": [sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold()],
        "collector": list(gc.callbacks),
        "warnings": [warnings.showwarning, *warnings.filters],
        "loggers": {
            name: (logger.level, *logger.handlers, *logger.filters)
            for name, logger in [("", logging.root), *logging.root.manager.loggerDict.items()]
            if isinstance(logger, logging.Logger)
        },
        "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "environment": (dict(os.environ), os.getcwd(), list(sys.path)),
        "random": random.getstate(),
        "executors": ThreadPoolExecutor._counter,  # type: ignore[attr-defined]
        "builtins": set(vars(builtins)) - {MARK},
    }


def failing() -> None:
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=lock.acquire).start()
    raise ValueError("fails")


def test_everything_is_put_back_after_a_failure() -> None:
    before = snapshot()
    (failed,) = run_once(failing).failures
    assert failed.message == "ValueError: fails"
    assert snapshot() == before


def test_everything_is_put_back_after_an_error_of_the_search() -> None:
    before = snapshot()

    def search() -> None:
        program.run(Follow())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), RealProgram(failing, ControlSettings()) as program:
        program.supervise(search)
    assert snapshot() == before


def drawing() -> None:
    """Uses much of what the interpreter keeps for everybody."""
    random.random()
    logging.getLogger("mazurka.drawing").debug("drawn")
    with ThreadPoolExecutor(1) as executor:
        executor.submit(random.random).result()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
    weakref.finalize(LOCAL, print).detach()
    thread = threading.Thread(target=sys.getrecursionlimit)
    thread.start()
    thread.join()
    assert thread.name == "Thread-1 (getrecursionlimit)"


@pytest.mark.parametrize("preemptions", [0, 1])
def test_everything_is_put_back_after_an_exploration(preemptions: int) -> None:
    drawing_once = logging.getLogger("mazurka.drawing")
    before = snapshot()
    result = explore(drawing, preemptions=preemptions)
    assert result.verdict == "holds", result
    assert snapshot() == before
    assert drawing_once.level == logging.NOTSET


def trace(*_: object) -> None: ...


def change_the_process() -> None:
    """Changes what a process has once; asserts that no run before this one has done so."""
    assert "MAZURKA_TRIED" not in os.environ
    os.environ["MAZURKA_TRIED"] = "1"
    os.environ.pop("PATH")
    assert os.getcwd() != os.path.realpath(os.sep)
    os.chdir(os.sep)
    for values in (sys.path, sys.argv, sys.meta_path):
        assert values[-1:] != ["tried"]
        values.append("tried")  # type: ignore[arg-type]
    warnings.simplefilter("ignore")
    sys.meta_path.remove("tried")  # type: ignore[arg-type]
    for hook in (sys.settrace, sys.setprofile, threading.settrace, threading.setprofile):
        hook(trace)
    sys.setrecursionlimit(2345)
    sys.setswitchinterval(0.25)
    gc.set_threshold(100, 5, 5)
    socket.setdefaulttimeout(2.5)
    threading.stack_size(256 * 1024)
    logger = logging.getLogger("mazurka.drawing")
    assert not logger.handlers
    logger.addHandler(logging.NullHandler())
    logger.setLevel(logging.ERROR)
    logging.disable(logging.INFO)
    assert os.umask(0o077) != 0o077
    atexit.register(sys.exit, "this is never to be called")
    decimal.getcontext().prec += 1
    VARIABLE.set(VARIABLE.get() + 1)
    assert (decimal.getcontext().prec, VARIABLE.get()) == (29, 1)
    LOCAL.tried = True
    threading.settrace(None)  # type: ignore[arg-type]
    threading.setprofile(None)
    thread = threading.Thread(target=change_a_thread)
    thread.start()
    thread.join()


def change_a_thread() -> None:
    assert (sys.gettrace(), sys.getprofile()) == (None, None)
    assert (decimal.getcontext().prec, VARIABLE.get()) == (28, 0)
    sys.settrace(trace)
    sys.setprofile(trace)
    decimal.getcontext().prec += 1
    VARIABLE.set(1)


def test_what_a_test_changes_in_the_process_is_put_back_after_each_run() -> None:
    logging.getLogger("mazurka.drawing")
    before = {**snapshot(), **own_state()}
    result = explore(change_the_process, preemptions=1)
    assert result.verdict == "holds", result.report()
    after = {**snapshot(), **own_state()}
    assert after == before


def test_workers_that_are_ended_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A filter of the exploration is no change of a run: it stays until the end."""

    def program() -> None:
        pool = ThreadPoolExecutor(1)
        pool.submit(int).result()
        raise ValueError("the worker still waits")

    assert explore(program, preemptions=1).verdict == "violated"
    assert "Exception in worker" not in caplog.text


def own_state() -> dict[str, Any]:
    mask = os.umask(0o022)
    os.umask(mask)
    return {
        "mask": mask,
        "timeout": socket.getdefaulttimeout(),
        "stacks": threading.stack_size(),
        "logging": logging.root.manager.disable,
        "at the end": atexit._ncallbacks(),
        "arguments": list(sys.argv),
        "context": (decimal.getcontext().prec, VARIABLE.get(), hasattr(LOCAL, "tried")),
    }


def test_what_the_library_wants_to_do_at_the_end_is_done(tmp_path: Path) -> None:
    """Finalizers register themselves once, and modules when they are imported."""
    (tmp_path / "goodbye.py").write_text(
        "import atexit\natexit.register(print, 'module')\nimport os\nos.environ['GOODBYE'] = '1'\n"
    )
    (tmp_path / "test_goodbye.py").write_text(
        "import atexit, os, weakref\n"
        "class Thing: pass\n"
        "KEPT = Thing()\n"
        "weakref.finalize(KEPT, print, 'finalizer')\n"
        "def test_it():\n"
        "    import goodbye\n"
        "    assert os.environ['GOODBYE'] == '1'\n"
        "    atexit.register(print, 'run')\n"
    )
    explored = "mazurka.explore(t.test_it, preemptions=1)"
    text = f"import mazurka, test_goodbye as t; print({explored}.verdict)"
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert sorted(done.stdout.split()) == ["finalizer", "holds", "module"], done.stderr


def busy() -> None:
    lock, channel = threading.Lock(), queue.Queue[int]()
    condition = threading.Condition()

    def work() -> None:
        with lock:
            channel.put(1)
        with condition:
            condition.notify_all()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert channel.qsize() == 2


@pytest.mark.parametrize("test", [busy, failing], ids=["passes", "fails"])
def test_runs_accumulate_nothing(test: Any) -> None:
    def search() -> tuple[list[int], list[int]]:
        objects, blocks = [], []
        for _ in range(4):
            for _ in range(250):
                program.run(Follow())
            gc.collect()
            objects.append(len(gc.get_objects()))
            blocks.append(sys.getallocatedblocks())
        return objects, blocks

    with RealProgram(test, QUICK) as program:
        objects, blocks = program.supervise(search)
    # Five hundred runs lie between; whatever one of them left would show as much.
    assert objects[-1] - objects[1] < 400
    assert blocks[-1] - blocks[1] < 400


def test_threads_begin_with_nothing_of_their_own() -> None:
    seen: list[tuple[bool, int]] = []

    def note() -> None:
        seen.append((hasattr(LOCAL, "value"), VARIABLE.get()))
        LOCAL.value = 1
        VARIABLE.set(1)
        PREPARED.looks += 1
        assert PREPARED.looks == 1

    def test() -> None:
        thread = threading.Thread(target=note)
        thread.start()
        thread.join()
        note()

    with RealProgram(test, QUICK) as program:
        for _ in range(3):
            assert program.run(Follow()).failures == []
    assert seen[0::2] == [(False, 0)] * 3
    assert [has for has, _ in seen[1::2]] == [False] * 3


def test_an_exploration_leaves_no_cycles() -> None:
    """What it has made goes with its result, and the functions of the test go with the test."""

    class Cell:
        value = 0

    def explored() -> weakref.ref[Any]:
        def increment() -> None:
            cell.value += 1

        def program() -> None:
            threads = [threading.Thread(target=increment) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        cell = Cell()
        explore(program)()
        return weakref.ref(increment)

    explored()  # what is made once for all
    gc.collect()
    gc.disable()
    try:
        left = explored()
        for _ in range(1000):  # the threads that have run it end by themselves
            if left() is None:
                break
            time.sleep(0.01)
        assert left() is None
    finally:
        gc.enable()


def test_packages_that_go_through_all_modules_load_none_of_ours() -> None:
    """As freezegun does when it stops the time."""
    seen: list[str] = []
    assert mazurka.explore(lambda: seen.extend(dir(mazurka)), preemptions=0).verdict == "holds"
    assert seen
    assert set(seen) <= set(vars(mazurka))
    assert sorted(mazurka.__all__) == dir(mazurka)
