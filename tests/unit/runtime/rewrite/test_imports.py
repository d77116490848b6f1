"""Code that an import runs during a test: before all executions that count, or named."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of

from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite import imports
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

LATE = """
class Box:
    n = 0
box = Box()
def add():
    box.n = box.n + 1
"""
CHOICE = """
for _ in range(2):
    try:
        import late_failure
    except ZeroDivisionError:
        pass
"""
PROGRAM = """
import importlib, importlib.util, sys, threading
def load(name):
    spec = importlib.util.find_spec(name)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
def forget(name):
    sys.modules.pop(name, None)
def program():
    def work():
        {work}
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.fixture(autouse=True)
def late_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "late_one.py").write_text(LATE)
    (tmp_path / "late_failure.py").write_text("1 / 0")
    (tmp_path / "late_choice.py").write_text(CHOICE)
    yield
    sys.modules.pop("late_one", None)
    sys.modules.pop("late_choice", None)


def explore_work(folder: Path, work: str) -> Result:
    module = module_of(folder, PROGRAM.replace("{work}", work))
    test = make_test(module.program, module.program)
    return explore_test(test, ExploreOptions(preemptions=1, patience=60))


def test_executions_that_count_find_the_module_imported(tmp_path: Path) -> None:
    result = explore_work(tmp_path, "import late_one; assert late_one.Box")
    assert (result.verdict, result.executions) == (HOLDS, 1), result.report()
    assert result.not_observed == ()


def test_functions_of_the_module_are_observed(tmp_path: Path) -> None:
    work = "import late_one; n = late_one.box.n; late_one.add(); assert late_one.box.n == n + 1"
    assert explore_work(tmp_path, work).verdict == VIOLATED


NAMED = {
    "import late_one; forget('late_one')": "module late_one (imported once more)",
    "load('late_one')": "module late_one (its code runs without an import)",
    "import late_one; importlib.reload(late_one)": (
        "module late_one (its code runs without an import)"
    ),
    "try: import late_failure\n        except ZeroDivisionError: pass": (
        "module late_failure (its import fails: ZeroDivisionError)"
    ),
}


@pytest.mark.parametrize("work", NAMED)
def test_code_that_runs_in_every_execution_is_named(tmp_path: Path, work: str) -> None:
    result = explore_work(tmp_path, work)
    assert result.verdict == INCONCLUSIVE, result.report()
    assert NAMED[work] in result.not_observed


def test_what_a_package_tries_once_when_it_is_imported_proves_no_less(tmp_path: Path) -> None:
    result = explore_work(tmp_path, "import late_choice")
    assert (result.verdict, result.not_observed) == (HOLDS, ()), result.report()


def test_a_module_that_is_not_there_proves_no_less(tmp_path: Path) -> None:
    work = "try: import late_nothing\n        except ImportError: pass"
    assert explore_work(tmp_path, work).verdict == HOLDS


class LoaderProxy:
    """Stands for a loader, as those of import hooks do (`wrapt.when_imported`)."""

    __class__ = property(lambda self: type(self.wrapped))  # type: ignore[assignment]

    def __init__(self, wrapped: Any) -> None:
        object.__setattr__(self, "wrapped", wrapped)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.wrapped, name, value)

    def exec_module(self, module: ModuleType) -> None:
        self.wrapped.exec_module(module)


class HookFinder:
    """Finds a module by other finders, and puts a proxy around its loader."""

    busy = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if self.busy or name != "late_one":
            return None
        self.busy = True
        spec: Any = importlib.util.find_spec(name)
        self.busy = False
        spec.loader = LoaderProxy(spec.loader)
        return spec


def test_loaders_inside_of_proxies_are_met_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "meta_path", [HookFinder(), *sys.meta_path])
    work = "import late_one; n = late_one.box.n; late_one.add(); assert late_one.box.n == n + 1"
    result = explore_work(tmp_path, work)
    assert result.verdict == VIOLATED
    assert "Recursion" not in result.report()


def test_the_import_system_is_as_before(tmp_path: Path) -> None:
    def look() -> list[object]:
        system = imports._SYSTEM
        places = system._find_spec, system._load_unlocked, imports._EXECUTING.exec_module
        return [*places, *sys.meta_path]

    before = look()
    explore_work(tmp_path, "import late_one")
    assert look() == before
