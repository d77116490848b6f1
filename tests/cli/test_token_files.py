"""A token names the file that it imports, and imports none outside of the project directory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mazurka.runtime.exploring.tokens import Token
from mazurka.runtime.testing.token_files import find_project, locate_target

MARK = "Path(__file__).with_name('imported').touch()"
FILE = f"""\
from pathlib import Path
{MARK}
def test_it():
    pass
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a test, inside of a directory with other files."""
    for folder in (tmp_path, tmp_path / "project", tmp_path / "project" / "tests"):
        folder.mkdir(exist_ok=True)
        (folder / "test_file.py").write_text(FILE)
    (tmp_path / "project" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def token_of(target: str) -> str:
    return Token(target, "assert", (), frozenset()).encode()


def imported(folder: Path) -> bool:
    return (folder / "imported").exists()


def test_the_file_is_named_before_it_is_imported(
    project: Path, mazurka: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "test_file.py").write_text("raise SystemExit('the import has begun')")
    answer = mazurka("replay", token_of("test_file.py::test_it"))
    named = "mazurka: importing test_file.py to run test_it\n"
    assert answer.err.startswith(named)


@pytest.mark.parametrize("where", ["", "tests"])
def test_a_file_of_the_project_is_imported(
    project: Path, mazurka: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Also from a directory below; paths in tokens begin at the root of the project."""
    monkeypatch.chdir(project / where)
    mazurka("replay", token_of("test_file.py::test_it"))
    assert imported(project / where)
    mazurka("replay", token_of("tests/test_file.py::test_it"))
    assert imported(project / "tests")


@pytest.mark.parametrize("kind", ["above", "absolute", "dots", "inside and out", "link", "folder"])
def test_a_file_outside_of_the_project_is_refused(
    project: Path, mazurka: Callable[..., Any], kind: str
) -> None:
    outside = project.parent
    (project / "linked.py").symlink_to(outside / "test_file.py")
    (project / "away").symlink_to(outside, target_is_directory=True)
    target = {
        "above": f"../{outside.name}/test_file.py",
        "absolute": str(outside / "test_file.py"),
        "dots": "../test_file.py",
        "inside and out": "tests/../../test_file.py",
        "link": "linked.py",
        "folder": "away/test_file.py",
    }[kind]
    token = token_of(f"{target}::test_it".replace("../" + outside.name, "../../" + outside.name))
    answer = mazurka("replay", token)
    assert answer.status == 2
    assert not imported(outside)
    assert "importing" not in answer.err
    allowed = mazurka("replay", token, "--outside")
    assert f"mazurka: importing {outside / 'test_file.py'} to run test_it" in allowed.err
    assert imported(outside)
    assert f"the token would import {outside / 'test_file.py'}, which is not in" in answer.err
    assert "add --outside" in answer.err


def test_a_directory_above_that_is_no_project_is_outside(
    project: Path, mazurka: Callable[..., Any]
) -> None:
    """The file is looked for upwards, but only in the project."""
    (project / "test_file.py").unlink()
    answer = mazurka("replay", token_of("test_file.py::test_it"))
    assert answer.status == 2
    assert not imported(project.parent)


def test_a_project_that_is_reached_through_a_link_is_one(
    project: Path, mazurka: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.parent / "link").symlink_to(project, target_is_directory=True)
    monkeypatch.chdir(project.parent / "link")
    mazurka("replay", token_of("test_file.py::test_it"))
    assert imported(project)


@pytest.mark.parametrize("mark", ["pyproject.toml", "pytest.ini", "setup.py", ".git", "tox.ini"])
def test_what_marks_a_project(tmp_path: Path, mark: str) -> None:
    here = tmp_path / "one" / "two"
    here.mkdir(parents=True)
    assert find_project(here) == here
    (tmp_path / "one" / mark).touch()
    assert find_project(here) == tmp_path / "one"
    (here / mark).touch()
    assert find_project(here) == here


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes are those of POSIX")
def test_nobody_else_can_make_a_project_of_a_directory_above(tmp_path: Path) -> None:
    """As `/tmp/pyproject.toml` would make one of `/tmp`."""
    here = tmp_path / "open" / "here"
    here.mkdir(parents=True)
    (tmp_path / "open" / "pyproject.toml").touch()
    assert find_project(here) == tmp_path / "open"
    (tmp_path / "open").chmod(0o1777)
    assert find_project(here) == here


def test_a_name_with_control_characters_is_written_as_escapes(
    project: Path, mazurka: Callable[..., Any]
) -> None:
    answer = mazurka("replay", token_of("test_file.py::\x1b[2Jtest_it"))
    assert "\x1b" not in answer.err
    assert "to run \\x1b[2Jtest_it" in answer.err


def test_the_option_is_for_tokens(mazurka: Callable[..., Any]) -> None:
    assert "for the tokens of failed tests" in mazurka("replay", "t.json", "--outside").err
    assert "mazurka replay mz1-eNq... --outside" in " ".join(
        mazurka("replay", "--help").out.split()
    )


def test_the_target_keeps_its_form(project: Path) -> None:
    assert locate_target("tests/test_file.py") == "tests/test_file.py"
    assert locate_target("tests/test_file.py::C::test") == "tests/test_file.py::C::test"
