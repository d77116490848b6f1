"""In a job of GitHub Actions, failed explorations are shown beside the lines that fail."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from plugin_sessions import run

from mazurka.runtime.testing.pytest.annotations import OTHER, annotate
from mazurka.runtime.testing.pytest.summary import EXPLORED

TESTS = """\
import threading

import library
import pytest


def together(function):
    threads = [threading.Thread(target=function) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.mazurka(preemptions=1)
def test_here():
    count = [0]

    def add():
        count[0] += 1

    together(add)
    assert count[0] == 2, "100%, a: b"


@pytest.mark.mazurka(preemptions=0)
def test_in_a_library():
    together(library.fail)


@pytest.mark.mazurka(preemption=2)
def test_misspelled():
    pass


@pytest.mark.mazurka(preemptions=0)
def test_right():
    together(print)


def test_plain():
    assert False
"""
HERE = TESTS.splitlines().index('    assert count[0] == 2, "100%, a: b"') + 1
OTHERS = [
    TESTS.splitlines().index(f"@pytest.mark.mazurka({text})") + 1
    for text in ("preemptions=0", "preemption=2")
]
"""Where the tests begin that fail elsewhere."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose tests are in a folder of it, and a library outside."""
    outside, inside = tmp_path / "outside", tmp_path / "repository" / "tests"
    outside.mkdir()
    inside.mkdir(parents=True)
    (outside / "library.py").write_text("def fail():\n    raise ValueError('no')\n")
    (inside / "test_some.py").write_text(TESTS)
    (inside / "pytest.ini").touch()
    monkeypatch.syspath_prepend(outside)
    monkeypatch.setenv("PYTHONPATH", str(outside), prepend=os.pathsep)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(inside.parent))
    return inside


def annotations(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("::")]


def test_failed_explorations_are_annotated(project: Path) -> None:
    status, output = run(project)
    assert status == 1
    here, library, misspelled = annotations(output)
    title = "title=test_some.py%3A%3Atest_here under some schedule"
    assert here.startswith(f"::error file=tests/test_some.py,line={HERE},{title}::assert: Asse")
    assert "100%25, a: b" in here
    assert "%0Aviolated: " in here
    assert library.startswith(f"::error file=tests/test_some.py,line={OTHERS[0]},title=")
    assert "ValueError: no%0A" in library
    title = "title=test_some.py%3A%3Atest_misspelled"
    assert misspelled.startswith(f"::error file=tests/test_some.py,line={OTHERS[1]},{title}::")
    assert "there is no option 'preemption'" in misspelled


class Terminal:
    """What a session has to show, and what is printed."""

    def __init__(self, nodeid: str) -> None:
        report = SimpleNamespace(
            nodeid=nodeid,
            user_properties=[(EXPLORED, "violated: 2 executions")],
            longrepr="it failed",
            longreprtext="it failed",
            location=("gone.py", None, ""),
        )
        self.stats = {"failed": [report]}
        self.printed: list[str] = []

    def line(self, text: str) -> None:
        self.printed.append(text)


@pytest.mark.parametrize(
    ("jobs", "plugins", "expected"),
    [
        ("true", (), ["::error title=gone.py%3A%3Atest_it under some schedule::it failed%0Aviol"]),
        ("true", (OTHER,), []),
        ("", (), []),
    ],
    ids=["in a job", "beside a plugin that annotates", "elsewhere"],
)
def test_who_annotates(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: str,
    plugins: tuple[str, ...],
    expected: list[str],
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", jobs)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    manager = SimpleNamespace(has_plugin=plugins.__contains__)
    terminal = Terminal("gone.py::test_it")
    annotate(terminal, SimpleNamespace(pluginmanager=manager, rootpath=tmp_path))  # type: ignore[arg-type]
    assert [text[: len(start)] for text, start in zip(terminal.printed, expected, strict=True)] == (
        expected
    )
