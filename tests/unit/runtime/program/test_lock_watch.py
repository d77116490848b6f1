"""Calls that keep the interpreter lock end by the limit, and isolated tests end nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.limits import ENOUGH

import mazurka
from mazurka.report.answer import ERROR, HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.program import lock_watch
from mazurka.runtime.program.lock_watch import MissingBeats, frames_of_dump
from mazurka.runtime.testing.collecting import collect

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals of Unix, and fork")

TESTS = """\
import ctypes
import os
import threading

import pytest


def race(end):
    found = []

    def add():
        seen = len(found)
        found[seen:] = [1]

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(found) != 2:
        end()


def test_leaves():
    race(lambda: os._exit(0))


def test_crashes():
    race(lambda: ctypes.string_at(1))


@pytest.mark.mazurka(patience=0.5)
def test_keeps_lock():
    sleep = ctypes.PyDLL(None).sleep
    race(lambda: sleep(1000))


def test_fails():
    race(lambda: pytest.fail("an update is lost"))


def test_skips():
    pytest.skip("not today")


def test_ends_session():
    race(lambda: pytest.exit("enough"))


def test_holds():
    race(lambda: None)
"""


@pytest.fixture
def tests_of(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    return tmp_path


def start(folder: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def wait_for(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    out, err = process.communicate(timeout=ENOUGH)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return wait_for(start(folder, *command))


MARKED = """\
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.mazurka)
"""
ISOLATED = "leaves or crashes or keeps_lock or fails or skips or holds"
KEEPING = {
    "command": ("-m", "mazurka", "test", "test_it.py::test_keeps_lock", "--patience", "0.5"),
    "pytest": ("-m", "pytest", "-k", "keeps_lock", "test_it.py"),
    "isolated": ("-m", "pytest", "--mazurka-isolate", "-rA", "-k", ISOLATED, "test_it.py"),
}
"""Sessions with the test that keeps the lock: each waits for seconds, so all run at once."""

Keeping: TypeAlias = dict[str, subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory, light_sessions: None) -> Keeping:
    started = {}
    for name, command in KEEPING.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "test_it.py").write_text(TESTS, "utf-8")
        if name == "isolated":
            (folder / "conftest.py").write_text(MARKED, "utf-8")
        started[name] = start(folder, *command)
    return {name: wait_for(process) for name, process in started.items()}


def line_of(text: str) -> int:
    return TESTS.splitlines().index(text) + 1


def isolated(folder: Path, name: str, **options: object) -> mazurka.runtime.story.result.Result:
    """Explore a test of the folder in a process of its own."""
    [found] = collect(f"{folder / 'test_it.py'}::{name}")
    return mazurka.explore(found.test.body, preemptions=2, isolate=True, **options)


def test_call_that_keeps_lock_ends_by_limit(keeping: Keeping) -> None:
    ended = keeping["command"]
    assert ended.returncode == 3, ended.stderr
    assert "a call has kept the interpreter lock for" in ended.stderr
    assert f"test_it.py:{line_of('    race(lambda: sleep(1000))')} in " in ended.stderr
    assert "isolate=True" in ended.stderr


def test_message_comes_through_capture_of_pytest(keeping: Keeping) -> None:
    ended = keeping["pytest"]
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "a call has kept the interpreter lock for" in ended.stderr


def test_isolated_tests_end_only_themselves(keeping: Keeping) -> None:
    ended = keeping["isolated"]
    assert ended.returncode == 1, ended.stdout + ended.stderr
    for test in ("leaves", "crashes", "keeps_lock", "fails"):
        assert f"FAILED test_it.py::test_{test}" in ended.stdout
    assert "PASSED test_it.py::test_holds" in ended.stdout
    assert "SKIPPED [1] test_it.py" in ended.stdout
    assert "Failed: an update is lost" in ended.stdout


def test_isolated_test_ends_session(tests_of: Path) -> None:
    (tests_of / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (tests_of / "pyproject.toml").write_text("[tool.mazurka]\nisolate = true\n", "utf-8")
    ended = run(tests_of, "-m", "pytest", "--mazurka", "-k", "session", "test_it.py")
    assert "Exit: enough" in ended.stdout + ended.stderr


def test_exit_is_reported_as_failure_of_test(tests_of: Path) -> None:
    result = isolated(tests_of, "test_leaves")
    assert result.verdict == ERROR
    assert "the process of the test has ended with status 0, and without an" in str(result.error)


def test_crash_names_signal_and_line(tests_of: Path) -> None:
    result = isolated(tests_of, "test_crashes")
    assert result.verdict == ERROR
    assert f"by signal {signal.strsignal(signal.SIGSEGV)}" in str(result.error)
    assert f"test_it.py:{line_of('    race(lambda: ctypes.string_at(1))')}" in str(result.error)


def test_isolated_results_are_those_of_this_process(tests_of: Path) -> None:
    found = isolated(tests_of, "test_fails")
    [same] = collect(f"{tests_of / 'test_it.py'}::test_fails")
    here = mazurka.explore(same.test.body, preemptions=2)
    assert found.verdict == here.verdict == VIOLATED
    assert found.report().partition("executions (")[0] == here.report().partition("executions (")[0]
    assert found.token == here.token
    assert isolated(tests_of, "test_holds").verdict == HOLDS
    assert isolated(tests_of, "test_skips").verdict == INCONCLUSIVE


def test_nothing_changes_here(tests_of: Path) -> None:
    changed: list[int] = []
    result = mazurka.explore(lambda: changed.append(1), preemptions=2, isolate=True)
    assert result.verdict == HOLDS
    assert changed == []


def test_no_child_is_left(tmp_path: Path) -> None:
    program = (
        "import os, mazurka\n"
        "mazurka.explore(lambda: None, preemptions=2)\n"
        "try: os.waitpid(-1, os.WNOHANG)\n"
        "except ChildProcessError: print('no child')\n"
    )
    assert run(tmp_path, "-c", program).stdout == "no child\n"


def test_silence_needs_several_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has slept has not kept the lock."""
    monkeypatch.setattr(lock_watch, "AT_LEAST", 0.0)
    missing = MissingBeats()
    missing.hear(patience=0.0, left=-1.0)
    assert [missing.look() for _ in range(4)] == [False, False, False, True]
    missing.hear(patience=0.0, left=-1.0)
    assert not missing.look()
    missing.hear(patience=0.0, left=float("nan"))
    assert not any(missing.look() for _ in range(10))


def test_frames_are_those_of_running_thread() -> None:
    own = Path(mazurka.__file__).parent
    dump = f'''\
Thread 0x1 (most recent call first):
  File "{own}/runtime/core/scheduler.py", line 96 in point
  File "/home/me/test_it.py", line 3 in wait

Current thread 0x2 (most recent call first):
  File "{own}/runtime/python/reentry.py", line 256 in perform
  File "/home/me/test_it.py", line 7 in <lambda>
'''
    assert [str(frame) for frame in frames_of_dump(dump)] == ["/home/me/test_it.py:7 in <lambda>"]
