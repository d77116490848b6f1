"""Mutants of what may run unobserved: each loses a failure, or proves what it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring import observed_program
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite import selection
from mazurka.runtime.testing.decorator import make_test
from tests.unit.runtime.observed_programs import module_of

HEAD = """
import linecache, threading, unittest
def run(work):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
CLEANUPS = """
def program():
    case = unittest.TestCase()
    case.addCleanup(int)
    run(case.doCleanups)
"""
REMEMBERED = """
def work():
    linecache.cache.pop('x', None)
    linecache.getline('x', 1)
def program():
    run(work)
"""


def verdict_of(folder: Path, source: str) -> str:
    (folder / "pyproject.toml").touch()
    module = module_of(folder, HEAD + source)
    test = make_test(module.program, module.program)
    return explore_test(test, ExploreOptions(preemptions=1)).verdict


def test_without_mutants_nothing_is_lost(tmp_path: Path) -> None:
    assert verdict_of(tmp_path, CLEANUPS) == VIOLATED
    assert verdict_of(tmp_path, REMEMBERED) == INCONCLUSIVE


def test_a_module_that_keeps_something_must_not_be_exempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_left = selection.is_left_alone
    monkeypatch.setattr(
        selection, "is_left_alone", lambda name, file: "unittest" in name or is_left(name, file)
    )
    assert verdict_of(tmp_path, CLEANUPS) == HOLDS


def test_what_exempt_modules_remember_must_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed_program, "find_memories", list)
    assert verdict_of(tmp_path, REMEMBERED) == HOLDS
