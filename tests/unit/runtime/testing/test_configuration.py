"""`[tool.mazurka]`, markers of modules and classes, and which of them comes first."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from plugin_sessions import run

import mazurka
from mazurka.cli.main import app
from mazurka.errors import OptionError
from mazurka.runtime.exploring.options import combine_options
from mazurka.runtime.testing.configuration import ConfigurationError, read_project

TESTS = """\
import threading

import mazurka
import pytest

pytestmark = pytest.mark.mazurka(max_steps=5000)


def meet():
    lock = threading.Lock()
    thread = threading.Thread(target=lock.locked)
    thread.start()
    thread.join()


def test_plain():
    meet()


@pytest.mark.mazurka(preemptions=3)
def test_marked():
    meet()


@mazurka.explore(preemptions=4)
def test_decorated():
    meet()


@pytest.mark.mazurka(preemptions=5, races=True)
class TestClass:
    def test_method(self):
        meet()

    @pytest.mark.mazurka(preemptions=6)
    def test_own(self):
        meet()


class TestLower(TestClass):
    pytestmark = [pytest.mark.mazurka(preemptions=7)]
"""


def write(directory: Path, table: str, name: str = "pyproject.toml") -> Path:
    file = directory / name
    file.write_text(table)
    return file


# -- the file --------------------------------------------------------------------------------------


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "packages" / "one"
    inner.mkdir(parents=True)
    write(tmp_path, "[tool.mazurka]\npreemptions = 3\n")
    write(inner, "[project]\nname = 'mazurka-tests'\n")
    assert read_project(inner / "test_it.py") == {"preemptions": 3}
    write(inner, "[tool.mazurka]\nmax-steps = 100\npreemptions = 'none'\n")
    assert read_project(inner / "test_it.py") == {"max_steps": 100, "preemptions": None}
    assert read_project(tmp_path / "test_it.py") == {"preemptions": 3}


def test_no_table_says_nothing(tmp_path: Path) -> None:
    assert read_project(tmp_path / "test_it.py") == {}


@pytest.mark.parametrize(
    ("table", "line", "message"),
    [
        ("preemption = 2", 4, "there is no option 'preemption'; there are .*; did you mean 'pree"),
        ("a = 1\npreemptions = 2", 4, "there is no option 'a'"),
        ("races = 'yes'", 4, "races must be True or False, not 'yes'"),
        ("preemptions = 'few'", 4, "preemptions must be a whole number or None, not 'few'"),
        ("timeouts = 'never'", 4, "timeouts must be 'any' or 'last-resort', not 'never'"),
        ("real-time = true", 4, "there is no option 'real-time'; did you mean virtual_time = fal"),
        ("limit-time = 3", 4, "did you mean seconds"),
        ("strategy = 'dpor'\npreemptions = 2", 3, "the strategy dpor has no bound"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, table: str, line: int, message: str
) -> None:
    file = write(tmp_path, f"[tool.other]\npreemption = 1\n[tool.mazurka]\n{table}\n")
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_project(tmp_path / "test_it.py")
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert caught.value.message.startswith("[tool.mazurka]: ")


def test_broken_files_are_told(tmp_path: Path) -> None:
    write(tmp_path, "[tool.mazurka\n")
    with pytest.raises(ConfigurationError, match="the settings cannot be read"):
        read_project(tmp_path / "test_it.py")
    write(tmp_path, "[tool]\nmazurka = 3\n")
    with pytest.raises(ConfigurationError, match="has to be a table"):
        read_project(tmp_path / "test_it.py")


# -- layers ----------------------------------------------------------------------------------------


def test_what_is_for_fewer_tests_comes_first() -> None:
    options = combine_options({"preemptions": 1, "races": True}, {"preemptions": 2}, {})
    assert (options.bound, options.races) == (2, True)


def test_names_of_modules_add_up() -> None:
    options = combine_options({"leave_out": ["json"]}, {"leave_out": "queue"})
    assert options.leave_out == ("json", "queue")


def test_what_the_strategy_of_a_test_does_not_take_is_left_out() -> None:
    project = {"workers": 4, "preemptions": 3, "timeouts": "last-resort", "seed": 5}
    assert combine_options(project, {"strategy": "optimal-dpor"}).bound is None
    assert combine_options(project, {"strategy": "random"}).seed == 5
    assert combine_options(project, {}).workers == 4
    with pytest.raises(OptionError, match="a seed is for random schedules"):
        combine_options({}, {"seed": 5})
    with pytest.raises(OptionError, match="has no bound"):
        combine_options(project, {"strategy": "dpor", "preemptions": 1})


# -- all ways in -----------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "[tool.mazurka]\npreemptions = 2\nmax-steps = 4000\n")
    (tmp_path / "test_layers.py").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


BOUNDS = {
    "test_plain": 2,
    "test_marked": 3,
    "test_decorated": 4,
    "TestClass::test_method": 5,
    "TestClass::test_own": 6,
    "TestLower::test_method": 7,
    "TestLower::test_own": 6,
}
"""Those of every test, by project, module, class, decorator and function."""


def test_the_command_honours_all_of_them(project: Path) -> None:
    ran = CliRunner().invoke(app, ["test", "test_layers.py", "--json"])
    results: list[dict[str, Any]] = json.loads(ran.output)["results"]
    found = {one["input"].partition("::")[2]: one["preemptions"] for one in results}
    assert found == BOUNDS
    races = {one["input"].partition("::")[2] for one in results if "race" in one["property"]}
    assert races == {name for name in BOUNDS if "::" in name}
    ran = CliRunner().invoke(app, ["test", "test_layers.py", "--preemptions", "1", "--json"])
    assert {one["preemptions"] for one in json.loads(ran.output)["results"]} == {1}


SHOWN = """\
import pytest


@pytest.fixture(autouse=True)
def show(request, capsys):
    from mazurka.runtime.testing.pytest.plugin import choose_options

    options = choose_options(request.node)
    with capsys.disabled():
        print("CHOSEN", request.node.nodeid, options.bound, options.max_steps, options.races)
"""


@pytest.mark.parametrize("more", [[], ["--mazurka-preemptions=1"]])
def test_pytest_honours_all_of_them(project: Path, more: list[str]) -> None:
    (project / "conftest.py").write_text(SHOWN)
    status, output = run(project, "-q", "-s", *more)
    assert status == 0, output
    told = {tuple(line.split()[1:]) for line in output.splitlines() if "CHOSEN" in line}
    assert told == {
        (f"test_layers.py::{name}", str(1 if more else bound), "5000", str("::" in name))
        for name, bound in BOUNDS.items()
    }


def test_a_wrong_table_ends_the_session_with_one_line(project: Path) -> None:
    write(project, "[tool.mazurka]\npreemption = 2\n")
    status, output = run(project, "-q")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "pyproject.toml:2: [tool.mazurka]: there is no option 'preemption'" in output
    assert "did you mean 'preemptions'?" in output
    assert "Traceback" not in output
    ran = CliRunner().invoke(app, ["test", "test_layers.py"])
    assert "pyproject.toml:2: [tool.mazurka]: there is no option 'preemption'" in ran.output


def test_functions_are_explored_as_their_project_says(project: Path) -> None:
    space: dict[str, Any] = {}
    source = "def scenario():\n    pass\n"
    exec(compile(source, os.path.join(project, "scenarios.py"), "exec"), space)
    assert mazurka.explore(space["scenario"], races=False).preemptions == 2
    write(project, "[tool.mazurka]\npreemptions = 1\n")
    assert mazurka.explore(space["scenario"], races=False).preemptions == 1
    assert mazurka.explore(space["scenario"], preemptions=3).preemptions == 3
