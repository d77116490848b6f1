"""`pytest --mazurka`, the last line of a session, and what other tools read from its reports."""

from __future__ import annotations

import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest
from plugin_sessions import run

from mazurka.runtime.testing.pytest.threaded import watch_starts

TESTS = """\
import os
import queue
import threading
import unittest

import pytest


class Box:
    n = 0


def twice(function):
    threads = [threading.Thread(target=function) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def count(box):
    box.n += 1


runs = []


def test_plain():
    runs.append(1)
    assert len(runs) == 1


def test_lost_update(tmp_path):
    box = Box()
    twice(lambda: count(box))
    assert box.n == 2


@pytest.fixture
def worker():
    items, done = queue.Queue(), []

    def work():
        while (item := items.get()) is not None:
            done.append(item)

    thread = threading.Thread(target=work)
    thread.start()
    yield items
    items.put(None)
    thread.join()
    assert done == [1]


def test_worker(worker):
    worker.put(1)


class TestCase(unittest.TestCase):
    def setUp(self):
        self.box = Box()

    def test_case(self):
        twice(lambda: count(self.box))
        self.assertEqual(self.box.n, 2)

    def test_no_threads(self):
        self.assertEqual(self.box.n, 0)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_process():
    twice(print)
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def test_fails_anyway():
    twice(print)
    raise ValueError("as always")


def test_skips():
    twice(print)
    pytest.skip("not today")


@pytest.mark.mazurka(preemptions=0)
def test_marked():
    box = Box()
    twice(lambda: count(box))
"""
HOOK = """\
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        print("CRASH", item.name, report.location[0], crash.path, crash.lineno, crash.message)
    return report
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("threaded")
    (made / "test_some.py").write_text(TESTS)
    return made


@pytest.mark.parametrize("more", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "xdist"])
def test_tests_that_start_threads_are_explored(directory: Path, more: list[str]) -> None:
    if more:
        pytest.importorskip("xdist")
    file = directory / f"report-{len(more)}.xml"
    status, output = run(directory, "-q", "--mazurka", f"--junitxml={file}", *more)
    assert status == 1
    assert "3 failed, 5 passed, 1 skipped" in output
    assert "FAILED test_some.py::test_lost_update - assert: AssertionError: 1 == 2" in output
    assert "FAILED test_some.py::TestCase::test_case - assert: AssertionError: 1 != 2" in output
    assert "FAILED test_some.py::test_fails_anyway - ValueError: as always" in output
    assert "test_some.py::test_process not explored: test_some.py:" in output
    assert "the test starts another process (os.fork)" in output
    last = next(line for line in output.splitlines() if line.startswith("mazurka: "))
    assert last.startswith("mazurka: 5 tests explored in ")
    assert " executions: 2 held, 2 violated, 1 skipped; 1 could not be explored" in last
    _require_properties(file)


def _require_properties(file: Path) -> None:
    """The report for machines says what was found of each explored test."""
    cases = {case.get("name"): case for case in ElementTree.parse(file).iter("testcase")}
    found = {
        name: {one.get("name"): one.get("value") or "" for one in case.iter("property")}
        for name, case in cases.items()
    }
    assert found["test_plain"] == {}
    assert found["test_lost_update"]["mazurka"].startswith("violated: ")
    assert int(found["test_lost_update"]["mazurka_executions"]) > 1
    assert found["test_worker"]["mazurka"].startswith("holds: all executions")
    assert found["test_process"]["mazurka"].startswith("error: ")
    [failure] = cases["test_lost_update"].iter("failure")
    assert "AssertionError: 1 == 2" in (failure.get("message") or "")
    assert "counterexample: " in (failure.text or "")


def test_without_the_option_marked_tests_alone_are_explored(directory: Path) -> None:
    status, output = run(directory, "-q", "-rP", "-k", "plain or lost or marked")
    assert status == 0, output
    assert "mazurka: 1 test explored in 2 executions: 1 held" in output
    assert "holds: all executions without preemptions; 2 partial orders, each run once" in output


def test_no_line_where_nothing_was_explored(directory: Path) -> None:
    status, output = run(directory, "-q", "--mazurka", "-k", "plain or no_threads")
    assert status == 0, output
    assert "mazurka" not in output


def test_a_limit_of_the_project_takes_the_place_of_ours(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text("[tool.mazurka]\nexecutions = 1\n")
    status, output = run(tmp_path, "-q", "--mazurka", "-k", "lost_update")
    assert status == 0, output
    assert "mazurka: 1 test explored in 1 execution: 1 inconclusive" in output


def test_annotations_find_the_line_and_the_message(tmp_path: Path) -> None:
    """Plugins that annotate changes read where a test has crashed from its report."""
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(HOOK)
    _, output = run(tmp_path, "-q", "-s", "--mazurka", "-k", "lost_update")
    line = TESTS.splitlines().index("    assert box.n == 2") + 1
    expected = f"test_lost_update test_some.py test_some.py {line} assert: AssertionError: 1 == 2"
    assert f"CRASH {expected}" in output


def test_a_thread_that_is_started_is_noted_and_nothing_stays() -> None:
    start = threading.Thread.start
    with watch_starts() as found:
        assert found == []
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
    assert found == [True]
    assert threading.Thread.start is start
