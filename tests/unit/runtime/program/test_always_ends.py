"""An exploration comes to its end: when it learns, when time is over, when it is interrupted."""

from __future__ import annotations

import importlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.limits import ENOUGH

import mazurka
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.exploring.exploration import Exploration
from mazurka.runtime.exploring.minimize import Minimal, minimize
from mazurka.runtime.program import watchdog
from mazurka.runtime.program.watchdog import Watchdog

TEXT_OF_POOL = """
import multiprocessing
import pytest

@pytest.mark.mazurka(patience=0.5)
def test_pool():
    with multiprocessing.Pool(1) as pool:
        assert pool.map(abs, [-1]) == [1]
"""


class Box:
    n = 0


def together(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- lessons ---------------------------------------------------------------------------------------


def attribute_of_metaclass() -> None:
    class Meta(type):
        n = 0

    class Thing(metaclass=Meta):
        pass

    def count() -> None:
        Meta.n = Thing.n + 1

    together(count, count)
    assert Meta.n == 2


def attribute_of_metaclass_locked() -> None:
    class Meta(type):
        n = 0

    class Thing(metaclass=Meta):
        pass

    lock = threading.Lock()

    def count() -> None:
        with lock:
            Meta.n = Thing.n + 1

    together(count, count)
    assert Meta.n == 2


def property_of_metaclass() -> None:
    class Meta(type):
        _count = 0

        @property
        def count(cls) -> int:
            return cls._count

        @count.setter
        def count(cls, value: int) -> None:
            cls._count = value

    class Thing(metaclass=Meta):
        pass

    def count() -> None:
        Thing.count += 1

    together(count, count)
    assert Thing.count == 2


def classes_that_nobody_saw_made() -> None:
    space: dict[str, type] = {}
    exec("class Meta(type): n = 0\nclass Thing(metaclass=Meta): pass", space)
    meta, thing = space["Meta"], space["Thing"]

    def count() -> None:
        meta.n = thing.n + 1  # type: ignore[attr-defined]

    together(count, count)
    assert meta.n == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        (attribute_of_metaclass, "violated"),
        (attribute_of_metaclass_locked, "holds"),
        (property_of_metaclass, "violated"),
        (classes_that_nobody_saw_made, "violated"),
    ],
)
def test_classes_that_are_new_in_every_run(test: Callable[[], None], verdict: str) -> None:
    assert mazurka.explore(test, preemptions=1, seconds=ENOUGH).verdict == verdict


def test_the_property_of_a_metaclass_is_no_variable() -> None:
    def locked() -> None:
        lock = threading.Lock()

        class Meta(type):
            _count = 0

            @property
            def count(cls) -> int:
                with lock:
                    return cls._count

            @count.setter
            def count(cls, value: int) -> None:
                with lock:
                    cls._count = value

        class Thing(metaclass=Meta):
            pass

        def put() -> None:
            Thing.count = 1

        together(put, put)

    assert mazurka.explore(locked, preemptions=1, races=True, seconds=ENOUGH).verdict == "holds"


_serial = map(int, range(1_000_000))
"""An execution does not begin it anew, as it would a counter of `itertools`."""


def test_types_of_ever_new_names() -> None:
    def restless() -> None:
        kind = type(f"Kind{next(_serial)}", (), {})
        made: list[Box] = []
        exec(*("made.append(kind())", {"made": made, "kind": kind}))

        def put() -> None:
            made[0].n = 1

        together(put, put)

    result = mazurka.explore(restless, preemptions=1)
    assert result.verdict == "error"
    assert "begin anew for ever" in str(result.error)
    assert "for an object of the type" in str(result.error)
    assert "Kind" in str(result.error)


# -- the time limit --------------------------------------------------------------------------------


def one_long_run() -> None:
    lock = threading.Lock()

    def work() -> None:
        for _ in range(10_000_000):
            with lock:
                pass

    together(work, work)


def many_runs() -> None:
    box = Box()

    def count() -> None:
        for _ in range(6):
            box.n += 1

    together(count, count, count)


@pytest.mark.parametrize(
    ("test", "workers"), [(one_long_run, 1), (one_long_run, 2), (many_runs, 1), (many_runs, 2)]
)
def test_time_is_over(test: Callable[[], None], workers: int) -> None:
    result = mazurka.explore(test, preemptions=None, seconds=0.6, max_steps=10**9, workers=workers)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))
    assert "the time limit was hit" in result.scope


def test_time_is_over_while_it_learns() -> None:
    def restless() -> None:
        time.sleep(0.3)
        kind = type(f"Kind{next(_serial)}", (), {})
        made: list[Box] = []
        exec("made.append(kind())", {"made": made, "kind": kind})

        def put() -> None:
            made[0].n = 1

        together(put, put)

    result = mazurka.explore(restless, preemptions=1, seconds=0.7, virtual_time=False)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))
    assert "the first executions" in result.scope


def end_time() -> None:
    """Let the time limit of the exploration that calls this be over at once."""
    program = session.current.program
    assert program is not None
    assert program._watchdog is not None
    program._watchdog.deadline = time.perf_counter()


def test_time_is_over_in_a_long_run_of_a_search() -> None:
    """The executions before are told."""
    box = Box()

    def sometimes_long() -> None:
        box.n = 0

        def put() -> None:
            box.n = 1

        def look() -> None:
            if box.n == 0:
                end_time()
                one_long_run()

        together(put, look)

    result = mazurka.explore(sometimes_long, preemptions=1, seconds=ENOUGH, max_steps=10**9)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))
    assert result.executions == 1
    assert "1 partial order, run once, then the time limit was hit" in result.scope


def compute() -> None:
    """Never reaches a scheduling point."""
    n = 0
    while True:
        n += 1


@pytest.mark.parametrize("test", [compute, lambda: together(compute, compute)])
def test_time_is_over_in_a_run_without_points(test: Callable[[], None]) -> None:
    result = mazurka.explore(test, seconds=0.3)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))
    assert mazurka.explore(many_runs, executions=1).runs == 1  # nothing is left behind


def test_time_is_over_in_a_run_without_points_of_a_search() -> None:
    """The executions before are told."""
    box = Box()

    def sometimes_computes() -> None:
        box.n = 0

        def put() -> None:
            box.n = 1

        def look() -> None:
            if box.n == 0:
                end_time()
                compute()

        together(put, look)

    result = mazurka.explore(sometimes_computes, preemptions=1, seconds=ENOUGH)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))
    assert "run once, then the time limit was hit" in result.scope


def test_time_is_over_in_a_call_that_does_not_return() -> None:
    here, there = socket.socketpair()
    result = mazurka.explore(lambda: here.recv(1), seconds=0.1, patience=0.3)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))
    there.close()
    here.close()


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_time_is_over_for_random_schedules(strategy: str) -> None:
    result = mazurka.explore(
        one_long_run, strategy=strategy, seconds=0.6, max_steps=10**9, executions=5
    )
    assert result.verdict == "inconclusive"
    assert "time" in result.limits


def test_a_failure_is_told_although_time_is_over_while_it_is_simplified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = []

    def too_late(*arguments: Any) -> Minimal:
        end_time()
        runs.append(minimize(*arguments))
        return runs[0]

    monkeypatch.setattr("mazurka.runtime.exploring.exploration.minimize", too_late)
    result = mazurka.explore(attribute_of_metaclass, preemptions=1)
    assert [found.runs for found in runs] == [1]
    assert result.verdict == "violated"
    assert result.violation is not None
    assert result.token


# -- interruptions ---------------------------------------------------------------------------------


def endless_loop() -> None:
    def spin(n: int = 0) -> None:
        while True:
            n += 1

    together(spin)


@pytest.mark.parametrize(
    ("test", "workers"), [(one_long_run, 1), (many_runs, 1), (many_runs, 2), (endless_loop, 1)]
)
def test_interrupted(test: Callable[[], None], workers: int) -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            mazurka.explore(test, preemptions=None, max_steps=10**9, workers=workers, patience=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert mazurka.explore(attribute_of_metaclass_locked, preemptions=1).verdict == "holds"


# -- what is out of control ------------------------------------------------------------------------


def test_a_loop_without_any_operation() -> None:
    result = mazurka.explore(endless_loop, preemptions=1, patience=0.5)
    assert result.verdict == "error"
    assert result.error is not None
    assert result.error.line is not None
    assert result.error.line - endless_loop.__code__.co_firstlineno in (2, 3)
    assert "without reaching any operation" in str(result.error)
    assert "to sleep" in str(result.error)


def test_patience_of_a_thread_that_computes_is_processor_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that hardly gets a processor is given more time."""
    looks, slow = [0], 0.1

    def look(self: watchdog.Look, *seen: Any) -> None:
        looks[0] += 1
        again(self, *seen)

    def clock() -> float:
        """Half of what passes on the clock on the wall, so that no other program can matter."""
        return looks[0] * patience / watchdog.LOOKS / 2

    patience, again = 0.4, watchdog.Look.again
    monkeypatch.setattr(watchdog.Look, "again", look)
    monkeypatch.setattr(watchdog, "_now", clock)
    monkeypatch.setattr(watchdog, "_processor_time", lambda run: clock() * slow)

    def compute() -> None:
        until = time.perf_counter() + 3 * patience
        while time.perf_counter() < until:
            pass

    result = mazurka.explore(compute, preemptions=0, patience=patience, virtual_time=False)
    assert result.verdict == "holds"


def test_patience_with_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some packages compute for seconds when they are imported; it has an end all the same."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "takes_long.py").write_text(
        "import time\nuntil = time.thread_time() + 0.5\nwhile time.thread_time() < until: pass\n"
    )
    (tmp_path / "takes_for_ever.py").write_text("while True: pass\n")

    def verdict(name: str, patience: float) -> str:
        def imports() -> None:
            importlib.import_module(name)

        return mazurka.explore(imports, preemptions=0, patience=patience).verdict

    assert verdict("takes_long", 0.1) == "holds"
    assert verdict("takes_for_ever", 0.02) == "error"


def test_a_loop_that_waits_through_an_iterator_of_c_code(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Exploration.choose_settings
    monkeypatch.setattr(
        Exploration,
        "choose_settings",
        lambda self, **timed: replace(settings(self, **timed), max_steps=5_000),
    )

    def poll() -> None:
        flags = [False, False]

        def put(index: int) -> None:
            flags[index] = True

        threads = [threading.Thread(target=put, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        while not all(map(bool, flags)):
            pass

    result = mazurka.explore(poll, preemptions=0)
    assert result.verdict == "error"
    line = poll.__code__.co_firstlineno + 9
    assert f"{Path(__file__).name}:{line}" in str(result.error)
    assert "without sleeping" in str(result.error)


def test_the_process_ends_although_a_pool_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "test_pool_of_processes.py"
    path.write_text(TEXT_OF_POOL)
    for command, status in ((["mazurka", "test"], 2), (["pytest", "-q"], 1)):
        ended = subprocess.run(
            [sys.executable, "-m", *command, str(path)],
            capture_output=True,
            text=True,
            timeout=ENOUGH,
            cwd=tmp_path,
            check=False,
        )
        assert ended.returncode == status, ended.stderr
        assert "the test starts another process" in " ".join(ended.stdout.split())


def test_what_was_there_before_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing
    import multiprocessing.util as util

    monkeypatch.setattr(watchdog, "out_of_control", [])
    before = util.Finalize(None, print, exitpriority=0)
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    child.start()
    outside = watchdog.Registrations()
    since = util.Finalize(None, print, exitpriority=0)
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    outside.forget("a reason")
    other.join()
    assert (before.still_active(), since.still_active()) == (True, False)
    assert (child.is_alive(), other.exitcode) == (True, -signal.SIGKILL)
    assert watchdog.out_of_control == ["a reason"]
    before.cancel()
    child.kill()
    child.join()


def test_a_deadline_is_forgotten_where_it_must_be() -> None:
    assert ControlSettings().deadline is None
    watchdog = Watchdog.__new__(Watchdog)
    watchdog.deadline = time.perf_counter() - 1
    watchdog._changing = threading.Lock()
    assert watchdog.is_late()
    watchdog.forget_deadline()
    assert not watchdog.is_late()
