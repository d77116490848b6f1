"""A time limit holds in every phase of a check; the clock here moves when a test says so."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path

import pytest
from tests.limits import ENOUGH

from mazurka import check, checking, deadline
from mazurka.deadline import (
    MemoryLimitError,
    TimeLimitError,
    check_time,
    interruptible,
    last_moment,
    memory_limit,
    seconds_left,
    time_limit,
    undisturbed,
)
from mazurka.errors import OptionError

EXAMPLES = Path(__file__).parents[2] / "examples"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_limit_there_is_time() -> None:
    assert seconds_left() is None
    check_time("waiting")
    with time_limit(None):
        assert seconds_left() is None


def test_the_phase_is_named_where_the_time_is_up() -> None:
    clock = Clock()
    with time_limit(5, clock):
        clock.now = 4
        assert seconds_left() == 1
        check_time("reading the model")
        clock.now = 6
        assert seconds_left() == 0
        with pytest.raises(TimeLimitError, match="reached while reading the model"):
            check_time("reading the model")
    assert seconds_left() is None


def test_a_ring_at_the_end_does_not_set_the_alarm_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm would ring where nothing catches it any more, and end the process."""
    stop = signal.setitimer

    def ring_at_the_end(which: int, seconds: float) -> None:
        stop(which, seconds)
        if not seconds:
            os.kill(os.getpid(), signal.SIGALRM)

    with memory_limit(10**12, lambda: 0), interruptible():
        monkeypatch.setattr(signal, "setitimer", ring_at_the_end)
    monkeypatch.undo()
    left = signal.getitimer(signal.ITIMER_REAL)
    stop(signal.ITIMER_REAL, 0)
    assert left == (0.0, 0.0)


def test_a_limit_holds_in_a_copied_context() -> None:
    clock = Clock()
    with time_limit(5, clock):
        context = copy_context()
    clock.now = 2
    assert context.run(seconds_left) == 3


def test_a_limit_inside_another_one_does_not_outlast_it() -> None:
    clock = Clock()
    with time_limit(5, clock):
        with time_limit(20, clock):
            assert seconds_left() == 5
        with time_limit(2, clock):
            assert seconds_left() == 2
        assert seconds_left() == 5
        clock.now = 3
        with time_limit(3, clock, since=1):
            assert seconds_left() == 1


def test_what_was_found_in_the_last_moment_may_be_explained() -> None:
    clock = Clock()
    with time_limit(20, clock):
        clock.now = 20
        with last_moment(), last_moment():
            assert seconds_left() == 2
        with last_moment():
            assert seconds_left() == 1
        assert seconds_left() == 0


def go_on_for_ever() -> None:
    while True:
        pass


def think_for_ever() -> None:
    check_time("thinking")
    with interruptible():
        go_on_for_ever()


def test_code_that_never_looks_at_the_clock_is_interrupted() -> None:
    with time_limit(0.5), pytest.raises(TimeLimitError, match="reached while thinking"):
        think_for_ever()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_after_a_shorter_limit_the_alarm_is_that_of_the_longer_one() -> None:
    with time_limit(3600), interruptible():
        with pytest.raises(TimeLimitError), time_limit(0.01):
            go_on_for_ever()
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 100


def test_whoever_waits_for_others_is_not_disturbed() -> None:
    with time_limit(0.01), interruptible():
        with undisturbed():
            time.sleep(0.03)
        assert seconds_left() == 0


def test_modules_are_loaded_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with C code that was interrupted could not be imported again."""
    text = "import time\nbegan = time.perf_counter()\n"
    text += "while time.perf_counter() < began + 0.1:\n    pass\nwhole = True\n"
    (tmp_path / "slowly_loaded.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with time_limit(0.02), suppress(TimeLimitError), interruptible():
        importlib.import_module("slowly_loaded")
        go_on_for_ever()
    assert sys.modules.pop("slowly_loaded").whole


def test_destructors_run_to_their_end() -> None:
    """What is raised in a destructor is printed and lost, and the limit would be lost with it."""
    whole = []

    class Slow:
        def __del__(self) -> None:
            began = time.perf_counter()
            while time.perf_counter() < began + 0.1:
                pass
            whole.append(True)

    def destroy(slow: object) -> None:
        del slow
        go_on_for_ever()

    with pytest.raises(TimeLimitError), time_limit(0.02), interruptible():
        destroy(Slow())
    assert whole


def test_code_that_a_module_runs_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check at module level is no part of loading that module."""
    text = "from mazurka.deadline import *\ntry:\n    with time_limit(0.02), interruptible():\n"
    text += "        while True:\n            pass\nexcept TimeLimitError:\n    ended = True\n"
    (tmp_path / "checking_module.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("checking_module")
    assert sys.modules.pop("checking_module").ended


def test_an_alarm_of_somebody_else_is_left_alone() -> None:
    def mine(number: int, frame: object) -> None:
        pass

    signal.signal(signal.SIGALRM, mine)
    try:
        with time_limit(0.01), interruptible():
            time.sleep(0.02)
            assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


PHASES = {
    "reading the model": "frontend.kit.program",
    "deriving ranges": "ir.values.fixpoint",
    "folding constants": "ir.passes.fold",
    "looking for dead variables": "ir.passes.liveness",
    "compiling the model": "ir.native.step",
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_check_that_runs_out_of_time_says_where(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock jumps when the phase begins."""
    clock = Clock()

    def jump(name: str) -> None:
        clock.now = 100
        check_time(name)

    monkeypatch.setattr(f"mazurka.{PHASES[phase]}.check_time", jump)
    monkeypatch.setattr(checking, "time_limit", lambda seconds: time_limit(seconds, clock))
    verdict = check(EXAMPLES / "peterson.py", limit_seconds=10)
    assert (verdict.verdict, verdict.limits) == ("inconclusive", ("time",))
    assert verdict.scope == f"the time limit was reached while {phase}: nothing is known"
    assert "preparing_seconds" in verdict.to_json()["stats"]  # type: ignore[operator]


def test_times_are_told_and_add_up() -> None:
    verdict = check(EXAMPLES / "peterson.py")
    times = verdict.times
    assert times is not None
    assert times.searching == verdict.total_seconds
    assert times.elapsed == times.preparing + times.searching + times.explaining
    assert min(times.preparing, times.searching, times.explaining) >= 0


@pytest.mark.parametrize("model", ["peterson", "philosophers"])
def test_a_deterministic_answer_is_the_same_to_the_letter(model: str) -> None:
    path = EXAMPLES / f"{model}.py"
    first, second = (check(path, deterministic=True).to_json() for _ in range(2))
    assert first == second
    assert first["stats"]["total_seconds"] == 0  # type: ignore[index]


def test_a_deterministic_answer_has_no_time_limit() -> None:
    with pytest.raises(OptionError, match="contradict each other"):
        check(EXAMPLES / "peterson.py", deterministic=True, limit_seconds=5)


def test_a_command_begins_with_its_process() -> None:
    told = (
        "import time; time.sleep(0.3); from mazurka.deadline import *;"
        "note_command_start(); print(time.perf_counter() - command_start())"
    )
    printed = subprocess.run([sys.executable, "-c", told], capture_output=True, check=True)
    assert float(printed.stdout) > (0.29 if sys.platform == "linux" else 0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_an_alarm_that_is_set_again_at_the_end_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The alarm rings between two statements of the end: it must not set the timer once more."""
    stop = signal.setitimer

    def ring_after(which: int, seconds: float) -> None:
        stop(which, seconds)
        handler = signal.getsignal(signal.SIGALRM)
        if seconds == 0 and callable(handler):
            handler(signal.SIGALRM, sys._getframe())

    with memory_limit(10**12, lambda: 0), time_limit(ENOUGH), interruptible():
        monkeypatch.setattr(signal, "setitimer", ring_after)
    monkeypatch.undo()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_the_memory_is_measured_again_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = iter([0, 5, 10])
    with memory_limit(10, lambda: next(measured)):
        monkeypatch.setattr(deadline, "MEMORY_PAUSE", ENOUGH)
        for _ in range(3):
            check_time("reading the model")
        assert list(measured) == [10]
    measured = iter([0, 5, 10])
    with memory_limit(10, lambda: next(measured)):
        monkeypatch.setattr(deadline, "MEMORY_PAUSE", 0.0)
        check_time("reading the model")
        with pytest.raises(MemoryLimitError, match="reached while reading the model"):
            check_time()
