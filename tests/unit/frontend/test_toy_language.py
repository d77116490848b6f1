"""A front end built on the kit alone, found by the registry, checked by every part of Mazurka.

`languages/toy.py` is the whole of it: it lies in a folder that is added to `mazurka.frontend` here,
as it would lie in `src/mazurka/frontend` if it were a part of Mazurka.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import mazurka
from mazurka import checking, frontend
from mazurka.checking import load_program
from mazurka.cli.failures import run_guarded
from mazurka.cli.main import app
from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.registry import choose_language, frontend_names, load_frontend
from mazurka.ir.program import Program
from mazurka.search.reading import Reading

LANGUAGES = Path(__file__).parent / "languages"

LOCKED = """\
thread A: lock m; x = x + 1; unlock m
thread B: lock m; x = x + 1; assert x >= 1; unlock m
"""
UNLOCKED = """\
thread A: x = x + 1; done = done + 1
thread B: x = x + 1; assert x == 2
"""
CROSSED = """\
thread A: lock m; lock n; unlock n; unlock m
thread B: lock n; lock m; unlock m; unlock n
"""


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(frontend, "__path__", [*frontend.__path__, str(LANGUAGES)])
    yield
    sys.modules.pop("mazurka.frontend.toy", None)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., str]:
    def write(text: str, name: str = "program.toy") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_it_is_a_language_by_being_present(program) -> None:
    assert "toy" in frontend_names()
    assert choose_language(program(LOCKED)) == "toy"
    assert choose_language(program(LOCKED, "program.txt")) == "toy"


@pytest.mark.parametrize("strategy", ["full", "cpc"])
def test_a_program_that_holds(program, strategy: str) -> None:
    verdict = mazurka.check(program(LOCKED), strategy=strategy)
    assert verdict.verdict == "holds", verdict.scope
    assert verdict.to_json()["options"]["language"] == "toy"


def test_a_lost_update_has_a_counterexample_in_source_lines(program) -> None:
    verdict = mazurka.check(program(UNLOCKED), strategy="full")
    assert verdict.verdict == "violated"
    assert verdict.violation is not None
    assert verdict.violation.message == "assertion failed: x == 2 (x is 1)"
    assert verdict.violation.line == 2
    assert {row.name for row in verdict.trace.rows} <= {"A", "B"}


def test_a_deadlock_is_found(program) -> None:
    verdict = mazurka.check(program(CROSSED), strategy="full")
    assert verdict.violation is not None
    assert verdict.violation.kind == "deadlock"


def test_a_race_is_found_without_the_lock_only(program) -> None:
    for text, expected in ((UNLOCKED, "violated"), (LOCKED, "holds")):
        verdict = mazurka.check(program(text), strategy="full", properties=["race"])
        assert verdict.verdict == expected


def test_a_trace_names_the_language_and_replays(program, tmp_path: Path) -> None:
    path = program(UNLOCKED, "program.txt")
    verdict = mazurka.check(path, language="toy", strategy="full")
    trace = tmp_path / "trace.json"
    mazurka.save_trace(trace, verdict)
    assert json.loads(trace.read_text())["options"]["language"] == "toy"
    assert mazurka.replay(trace).outcome == "reproduced"


def test_what_it_cannot_read_is_refused_with_the_place(program) -> None:
    with pytest.raises(MazurkaError) as caught:
        mazurka.check(program("thread A: x = 1; print x\n"))
    error = caught.value
    assert error.message == "`print x` is no statement"
    assert (error.line, error.column, error.end_column) == (1, 18, 25)


def test_the_command_line_shows_the_place(program, capsys: pytest.CaptureFixture[str]) -> None:
    path = program("thread A: x = 1; print x\n")
    assert run_guarded(app, ["check", path]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"mazurka: {path}:1:18: `print x` is no statement",
        "  thread A: x = 1; print x",
        "                   ^^^^^^^",
    ]


def test_options_that_mean_nothing_to_it_are_refused(program) -> None:
    for given in ({"definitions": {"N": 1}}, {"max_threads": 3}, {"max_depth": 3}):
        with pytest.raises(OptionError, match="the toy language has none"):
            mazurka.check(program(LOCKED), **given)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("lock m; m = m + 1", "`m` is a lock, not a variable"),
        ("m = 1; lock m", "`m` is a variable, not a lock"),
    ],
)
def test_locks_and_variables_are_not_mixed_up(program, statements: str, message: str) -> None:
    with pytest.raises(MazurkaError) as caught:
        mazurka.check(program(f"thread A: {statements}\n"))
    assert caught.value.message == message


def test_a_program_that_is_nested_too_deeply_is_named(
    program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nest(path: str, reading: Reading) -> Program:
        raise RecursionError

    deep = replace(load_frontend("toy"), load=nest)
    monkeypatch.setattr(checking, "load_frontend", lambda name: deep)
    path = program(LOCKED)
    with pytest.raises(MazurkaError) as caught:
        load_program(path, Reading())
    assert (caught.value.message, caught.value.file) == ("the input is nested too deeply", path)


@pytest.mark.parametrize("form", ["json", "dot"])
def test_it_can_be_exported(program, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert run_guarded(app, ["export", program(LOCKED), "--format", form]) == 0
    assert "acquire m" in capsys.readouterr().out
