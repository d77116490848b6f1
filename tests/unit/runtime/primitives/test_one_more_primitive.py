"""A new primitive is one new file: nothing else has to know of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mazurka

PROGRAMS = """
import json, threading

import mazurka
from mazurka.runtime.primitives.gate import Gate

EARLY = Gate()


def passes():
    gate, seen = Gate(), []

    def work():
        seen.append(1)
        gate.open()

    thread = threading.Thread(target=work)
    thread.start()
    gate.enter()
    assert seen
    thread.join()


def stays_shut():
    gate = Gate()
    gate.enter()


def stays_shut_before():
    EARLY.enter()


def looks_inside():
    gate = Gate()
    thread = threading.Thread(target=gate.open)
    thread.start()
    assert not gate._is_open
    thread.join()


for program in (passes, stays_shut, stays_shut_before, looks_inside):
    result = mazurka.explore(program, preemptions=2)
    print(json.dumps([program.__name__, result.verdict, result.executions, result.report(200)]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    folder = tmp_path_factory.mktemp("gate")
    package = folder / "mazurka"
    shutil.copytree(Path(mazurka.__file__).parent, package, ignore=shutil.ignore_patterns("*.pyc"))
    new = Path(__file__).with_name("one_more") / "gate.py"
    shutil.copy(new, package / "runtime" / "primitives")
    script = folder / "programs.py"
    script.write_text(PROGRAMS)
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: rest for name, *rest in rows}


def test_its_threads_are_scheduled(results: dict[str, list[object]]) -> None:
    """Main enters after the gate is open, whatever comes before: one order of two operations."""
    assert results["passes"][:2] == ["holds", 1]


def test_who_waits_for_ever_is_told_in_its_words(results: dict[str, list[object]]) -> None:
    verdict, _, report = results["stays_shut"]
    assert verdict == "violated"
    assert "waits for gate to be opened" in str(report)


def test_an_object_made_before_is_adopted(results: dict[str, list[object]]) -> None:
    verdict, _, report = results["stays_shut_before"]
    assert verdict == "violated"
    assert "waits for gate EARLY to be opened" in str(report)


def test_reads_of_private_attributes_are_operations(results: dict[str, list[object]]) -> None:
    verdict, _, report = results["looks_inside"]
    assert verdict == "violated"
    assert "look at gate" in str(report)
