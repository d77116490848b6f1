"""How wide reports are, what they do with long lines of source, and how they count executions."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.warm import run_warm

import mazurka
from mazurka.report.terminal import make_console, width_of_output
from mazurka.runtime.story.rows import strip_comment


def run(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def short_lines() -> None:
    n = [0]

    def add() -> None:
        n[0] += 1

    run(add, add)
    assert n[0] == 2, "longer than a column"


def long_lines() -> None:
    number_of_all_steps = {"of all threads": 0}

    def increase() -> None:
        number_of_all_steps["of all threads"] = number_of_all_steps["of all threads"] + 1

    run(increase, increase)
    assert number_of_all_steps["of all threads"] == 2


def report_of(program: Callable[[], None], width: int) -> str:
    return mazurka.explore(program, preemptions=1).report(width)


def test_a_long_line_goes_on_below() -> None:
    text = report_of(short_lines, 100)
    assert "Thread-1 (add)  " in text  # columns
    table = re.sub(r"\s+", " ", text.partition("\n\n  ✗")[0])
    assert '✗ assert n[0] == 2, "longer than a column"' in table
    assert "…" not in text


def test_columns_that_would_cut_most_lines_become_a_list() -> None:
    text = report_of(long_lines, 100)
    assert "──" not in text
    assert re.search(r"^ \d  Thread-1 \(increase\)  +\d+ number_of_all_steps", text, re.MULTILINE)
    assert "…" not in text


def test_three_lines_of_source_are_enough() -> None:
    text = report_of(long_lines, 50)
    assert "…" in text
    assert max(len(line) for line in text.splitlines() if "mazurka replay" not in line) <= 50


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("self.n += 1  # not atomic", "self.n += 1"),
        ("tag = '#1'", "tag = '#1'"),
        ("call(one,  # the first", "call(one,"),
        ("two)  # the second", "two)"),
        ("# nothing else", "# nothing else"),
    ],
)
def test_comments_take_no_room(line: str, shown: str) -> None:
    assert strip_comment(line) == shown


def test_counts_of_executions_cannot_be_added_up() -> None:
    result = mazurka.explore(short_lines, preemptions=1)
    assert "3 executions (2 without preemptions, 3 with at most 1)  " in result.report(100)
    assert [level.executions for level in result.levels] == [2, 3]
    result.levels = (replace(result.levels[1], bound=2, executions=46),)
    assert "(46 with at most 2)" in result.report(100)


# -- one rule for the width ------------------------------------------------------------------------

FAILING = """
import threading

import mazurka


@mazurka.explore(preemptions=1)
def test_lost():
    n = [0]

    def add():
        n[0] += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert n[0] == 2
"""


def test_the_width_is_that_of_columns_or_80(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "123")
    assert width_of_output() == make_console().width == 123
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(os, "get_terminal_size", no_terminal)
    assert width_of_output() == make_console().width == 80


def no_terminal(*_: object) -> os.terminal_size:
    raise OSError("this is no terminal")


@pytest.mark.parametrize("columns", [None, "130"])
def test_pytest_and_replay_have_the_same_layout(tmp_path: Path, columns: str | None) -> None:
    (tmp_path / "test_lost.py").write_text(FAILING, encoding="utf-8")
    tested = process(tmp_path, columns, "pytest", "-q", "-p", "no:cacheprovider", "test_lost.py")
    token = re.search(r"mz1-\S+", tested)
    assert token is not None, tested
    replayed = process(tmp_path, columns, "mazurka", "replay", token[0])
    assert table_of(tested) == table_of(replayed)
    frame = next(line for line in tested.splitlines() if "FAILURES" in line)
    assert len(frame) == int(columns or "80")


def process(directory: Path, columns: str | None, *command: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = columns
    plugin = ["-p", "mazurka.runtime.testing.pytest.plugin"] if command[0] == "pytest" else []
    done = run_warm(
        command[0],
        *plugin,
        *command[1:],
        folder=directory,
        environment={
            **environment,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONIOENCODING": "utf-8",
        },
    )
    return done.stdout + done.stderr


def table_of(output: str) -> str:
    found = output.partition("counterexample: ")[2].partition("  ✗ main")
    assert found[2], output
    return found[0]
