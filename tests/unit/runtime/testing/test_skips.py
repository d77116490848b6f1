"""Tests that skip in some executions: these are executions without a failure, and the search goes
on."""

from __future__ import annotations

import json
import os
import re
import threading
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugin_sessions import run
from tests.warm import run_warm

import mazurka

TESTS = """\
import threading
import unittest

import pytest


def count(stop, lost=False):
    order, box, lock = [], [0], threading.Lock()

    def add(number):
        order.append(number)
        if lost:
            box[0] += 1
        else:
            with lock:
                box[0] += 1

    threads = [threading.Thread(target=add, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop(order)
    assert box[0] == 2


def only(stop):
    return lambda order: stop() if order == [2, 1] else None


@pytest.mark.mazurka
def test_skip_beside_failure():
    count(only(lambda: pytest.skip("the other order")), lost=True)


@pytest.mark.mazurka
def test_xfail_beside_failure():
    count(only(lambda: pytest.xfail("the other order")), lost=True)


@pytest.mark.mazurka
def test_import_beside_failure():
    count(only(lambda: pytest.importorskip("no_such_module")), lost=True)


@pytest.mark.mazurka
def test_some_skip():
    count(only(lambda: pytest.skip("the other order")))


@pytest.mark.mazurka
def test_some_xfail():
    count(only(lambda: pytest.xfail("the other order")))


@pytest.mark.mazurka
def test_all_skip():
    count(lambda order: pytest.skip("not today"))


@pytest.mark.mazurka
def test_all_xfail():
    count(lambda order: pytest.xfail("not today"))


class TestCase(unittest.TestCase):
    def tearDown(self):
        assert self.torn

    @pytest.mark.mazurka
    def test_case_beside_failure(self):
        self.torn = True
        count(only(lambda: self.skipTest("the other order")), lost=True)

    @pytest.mark.mazurka
    def test_tear_down(self):
        self.torn = False
        self.skipTest("not today")
"""
FAILING = (
    "test_skip_beside_failure",
    "test_xfail_beside_failure",
    "test_import_beside_failure",
    "TestCase::test_case_beside_failure",
    "TestCase::test_tear_down",
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("skips")
    (made / "test_some.py").write_text(TESTS)
    return made


def find_line(text: str) -> int:
    return next(number for number, line in enumerate(TESTS.splitlines(), 1) if text in line)


def test_sessions(directory: Path) -> None:
    status, output = run(directory, "-v", "-rsx")
    assert status == 1
    for name in FAILING:
        assert f"test_some.py::{name} FAILED" in output
    assert "5 failed, 2 passed, 1 skipped, 1 xfailed" in output
    line = find_line('pytest.skip("not today")')
    assert f"SKIPPED [1] test_some.py:{line}: not today" in output
    assert "XFAIL test_some.py::test_all_xfail - not today" in output
    for name, verb in (("test_some_skip", "skip"), ("test_some_xfail", "xfail")):
        told = next(line for line in output.splitlines() if f"{name}: holds: all exec" in line)
        counts, _, reason = told.partition("note: ")[2].partition(f" executions {verb}: ")
        skipping, _, every = counts.partition(" of ")
        assert 0 < int(skipping) < int(every)
        assert reason == "the other order"
    assert "9 tests explored in " in output
    assert ": 2 held, 5 violated, 1 skipped, 1 expected to fail" in output
    assert "could not be explored" not in output


def test_sessions_without_marks(tmp_path: Path) -> None:
    text = re.sub(" *@pytest.mark.mazurka\n", "", TESTS)
    (tmp_path / "test_some.py").write_text(text.replace("== [2, 1]", "== [1, 2]"))
    status, output = run(tmp_path, "-v", "--mazurka", "-k", "not tear_down", "-rs")
    assert status == 1
    for name in FAILING[:4]:
        assert f"test_some.py::{name} FAILED" in output
    for name in ("test_some_skip", "test_all_skip"):
        assert f"test_some.py::{name} SKIPPED" in output
    for name in ("test_some_xfail", "test_all_xfail"):
        assert f"test_some.py::{name} XFAIL" in output
    assert "SKIPPED [1] test_some.py:" in output
    assert ": 2 held, 4 violated, 1 skipped, 1 expected to fail" in output


def test_command(directory: Path) -> None:
    done = run_warm("mazurka", "test", "test_some.py", "--json", folder=directory)
    results = json.loads(done.stdout)["results"]
    found = {one["input"].partition("::")[2]: one for one in results}
    assert {name for name, one in found.items() if one["verdict"] == "violated"} == {*FAILING}
    assert found["test_some_skip"]["verdict"] == found["test_some_xfail"]["verdict"] == "holds"
    assert found["test_all_skip"]["scope"] == "skipped: not today"
    assert found["test_all_xfail"]["scope"] == "xfail: not today"
    assert found["test_all_skip"]["limits"] == ["skipped"]
    assert found["test_all_skip"]["stats"]["executions"] > 1


def run_two(stop: Callable[[list[int]], Any]) -> None:
    order: list[int] = []
    threads = [threading.Thread(target=order.append, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop(order)


def skip_other(order: list[int]) -> None:
    if order == [2, 1]:
        raise unittest.SkipTest("the other order")


STRATEGIES: tuple[dict[str, Any], ...] = (
    {"strategy": "algorithm2", "preemptions": 2},
    {"strategy": "algorithm2", "preemptions": None},
    {"strategy": "algorithm1", "preemptions": 2},
    {"strategy": "cb-dfs", "preemptions": 1},
    {"strategy": "optimal-dpor"},
)


@pytest.mark.parametrize("options", STRATEGIES, ids=str)
def test_every_search_counts_each_execution_once(options: dict[str, Any]) -> None:
    def scenario() -> None:
        run_two(skip_other)

    result = mazurka.explore(scenario, **options)
    assert result.verdict == "holds"
    if options["strategy"] != "cb-dfs":  # which runs schedules, not partial orders
        assert result.executions == 2
        assert result.notes == ("1 of 2 executions skip: the other order",)
    else:
        (note,) = result.notes
        assert note.endswith(f" of {result.executions} executions skip: the other order")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
@pytest.mark.filterwarnings("ignore:.*other threads:RuntimeWarning")
def test_workers_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    from mazurka.runtime.exploring.workers import parallel

    def scenario() -> None:
        run_two(skip_other)

    def always() -> None:
        run_two(lambda order: pytest.skip("not today"))

    monkeypatch.setattr(parallel, "SCOUTING", 1)
    result = mazurka.explore(scenario, workers=2)
    assert result.verdict == "holds"
    assert "1 of 2 executions skip: the other order" in result.notes
    assert mazurka.explore(always, workers=2).scope == "skipped: not today"


def test_random_schedules_skip_only_together() -> None:
    options: dict[str, Any] = {"strategy": "random", "executions": 20, "seed": 1}

    def scenario() -> None:
        run_two(skip_other)

    result = mazurka.explore(scenario, **options)
    assert result.limits == ("unsound-strategy",)
    (note,) = result.notes
    assert note.endswith(" of 20 executions skip: the other order")
    skipped = mazurka.explore(lambda: pytest.skip("not today"), **options)
    assert skipped.limits == ("skipped",)


def test_what_skipping_leaves_behind_is_no_finding_but_exceptions_are() -> None:
    def leave() -> None:
        threading.Thread(target=threading.Event().wait).start()
        raise unittest.SkipTest("not today")

    def fail() -> None:
        thread = threading.Thread(target=[].pop)
        thread.start()
        thread.join()
        raise unittest.SkipTest("not today")

    left = mazurka.explore(leave, preemptions=1)
    assert (left.verdict, left.scope) == ("inconclusive", "skipped: not today")
    failed = mazurka.explore(fail, preemptions=1)
    assert failed.violation is not None
    assert "pop from empty list" in failed.violation.message


def test_decorated_tests_raise_the_skip() -> None:
    class Case(unittest.TestCase):
        @mazurka.explore(preemptions=1)
        def test_always(self) -> None:
            self.skipTest("not today")

        @mazurka.explore(preemptions=1)
        def test_sometimes(self) -> None:
            run_two(lambda order: self.skipTest("other") if order == [2, 1] else None)

    found = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(found)
    assert found.wasSuccessful()
    assert [why for _, why in found.skipped] == ["not today"]


def test_skips_let_go_of_the_run() -> None:
    ended: list[int] = []

    class Ends:
        def __del__(self) -> None:
            ended.append(1)

    def scenario() -> None:
        kept = Ends()
        assert kept
        raise unittest.SkipTest("not today")

    result = mazurka.explore(scenario, preemptions=1, executions=1)
    assert result.skip is not None
    assert result.skip.error.__traceback__ is None
    assert ended
