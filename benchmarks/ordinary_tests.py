"""Run tests of the standard library in a process that has explored, and in one that has not.

    python benchmarks/ordinary_tests.py
    python benchmarks/ordinary_tests.py --modules test_queue test_weakref

Every test has to end the same way in both.  Prints those that do not; the status is 1 if there are
any.  Needs the package `test`, which some distributions of Python leave out.  Run from the
repository root.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

MODULES = (
    *("test_queue", "test_functools", "test_collections", "test_weakref", "test_copy"),
    *("test_tempfile", "test_shutil", "test_pathlib", "test_glob", "test_os", "test_memoryview"),
    "test_contextlib",
)
LEFT_OUT = ("subprocess", "fork", "embed", "script", "import_deadlock", "daemon", "signal")
"""Parts of the names of tests that start processes, or take long."""


class Outcomes(unittest.TestResult):
    """How each test has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: dict[str, str] = {}

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.ends.setdefault(test.id(), "passed")
        super().stopTest(test)

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:  # noqa: N802
        self.ends[test.id()] = f"failed: {error[1]}"

    def addError(self, test: unittest.TestCase, error: Any) -> None:  # noqa: N802
        self.ends[test.id()] = f"error: {error[1]!r}"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self.ends[test.id()] = "skipped"


def find_tests(name: str) -> unittest.TestSuite:
    loader = unittest.TestLoader()
    found = unittest.TestSuite()
    waiting = [loader.loadTestsFromModule(importlib.import_module(f"test.{name}"))]
    while waiting:
        for one in waiting.pop():
            if isinstance(one, unittest.TestSuite):
                waiting.append(one)
            elif not any(part in one.id().lower() for part in LEFT_OUT):
                found.addTest(one)
    return found


def explore_first() -> None:
    """Leave as much behind as explorations can."""
    from tests.unit.runtime.observed_programs import module_of
    from tests.unit.runtime.rewrite import outliving

    from mazurka import explore

    source = Path(outliving.__file__).read_text()
    with tempfile.TemporaryDirectory() as folder:
        for preemptions in (0, 1):
            module = module_of(Path(folder), source)
            result = explore(module.make_everything, preemptions=preemptions)
            print(f"explored: {result.verdict}, {result.executions} executions", file=sys.stderr)
            next(module.STORE)["executor"].shutdown()
        result = explore(use_files, preemptions=1)
        print(f"explored: {result.verdict}, {result.executions} executions", file=sys.stderr)


def use_files() -> None:
    """Change files, views of buffers and what the process has once, in two threads."""

    def work(name: str) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path(name).write_text(name)
            shutil.copy(name, f"{name}-copy")
            os.umask(0o077)
            with memoryview(bytearray(b"a")) as view:
                assert view[0]

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
        thread.join()


def run_tests(modules: list[str], explored: bool) -> None:
    if explored:
        explore_first()
    outcomes = Outcomes()
    for name in modules:
        find_tests(name).run(outcomes)
    print(json.dumps(outcomes.ends))


def run_apart(modules: list[str], *options: str) -> dict[str, str]:
    command = [sys.executable, __file__, "--modules", *modules, "--run", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    ends: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return ends


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", nargs="+", default=list(MODULES))
    parser.add_argument("--run", action="store_true", help="run the tests in this process")
    parser.add_argument("--explored", action="store_true", help="after explorations")
    arguments = parser.parse_args()
    if arguments.run:
        run_tests(arguments.modules, arguments.explored)
        return 0
    plain = run_apart(arguments.modules)
    explored = run_apart(arguments.modules, "--explored")
    other = [name for name in plain.keys() | explored.keys() if not _same(plain, explored, name)]
    for name in sorted(other):
        print(f"{name}: {plain.get(name)} before, {explored.get(name)} after explorations")
    passed = sum(end == "passed" for end in explored.values())
    print(f"{len(explored)} tests, {passed} passed; {len(other)} end differently")
    return 1 if other else 0


def _same(plain: dict[str, str], explored: dict[str, str], name: str) -> bool:
    one, other = plain.get(name, ""), explored.get(name, "")
    return one.partition(":")[0] == other.partition(":")[0]


if __name__ == "__main__":
    sys.exit(main())
