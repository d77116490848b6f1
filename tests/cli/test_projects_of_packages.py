"""Tests of projects with packages and settings, as pytest imports them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.warm import run_warm

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/stock.py": """\
class Stock:
    def __init__(self):
        self.pieces = 0

    def add(self):
        self.pieces += 1
""",
    "tests/__init__.py": "",
    "tests/unit/__init__.py": "",
    "tests/unit/together.py": """\
import threading


def twice(target):
    threads = [threading.Thread(target=target) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""",
    "tests/unit/test_shop_stock.py": """\
import pytest
from shop.stock import Stock

from .together import twice


@pytest.mark.mazurka
def test_add():
    stock = Stock()
    twice(stock.add)
    assert stock.pieces == 2


def test_name():
    assert __name__ == "tests.unit.test_shop_stock"
""",
}
TARGET = "tests/unit/test_shop_stock.py"
SETTINGS = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "pytest.ini": "[pytest]\npythonpath = src\n",
    "tox.ini": "[tox]\n[pytest]\npythonpath =\n    other\n    src\n",
    "setup.cfg": "[tool:pytest]\npythonpath = src\n",
    "pytest.toml": '[pytest]\npythonpath = ["src"]\n',
}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def pytest_in(directory: Path, *arguments: str) -> str:
    words = ("-q", "-p", "no:cacheprovider", *arguments)
    environment = {**os.environ, "COLUMNS": "100"}
    return run_warm("pytest", *words, folder=directory, environment=environment).stdout


@pytest.mark.parametrize("name", SETTINGS)
def test_packages_and_paths_of_the_settings(copy, project, name):
    (project / name).write_text(SETTINGS[name], encoding="utf-8")
    both = copy("test", TARGET)
    assert both.returncode == 1, both.stdout + both.stderr
    wrong, named = both.stdout.split(f"{TARGET}::test_name\n")
    assert wrong.startswith(f"{TARGET}::test_add\nviolated: ")
    assert "AssertionError: 1 == 2" in wrong
    assert named.startswith("holds\n")


def test_the_nearest_settings_count(copy, project):
    (project / "pyproject.toml").write_text(SETTINGS["pyproject.toml"], encoding="utf-8")
    (project / "tests" / "pytest.ini").touch()
    answer = copy("test", TARGET)
    assert answer.returncode == 2
    assert "No module named 'shop'" in answer.stderr


@pytest.mark.parametrize(
    "settings", ["[tool.pytest", "[tool.pytest.ini_options]\npythonpath = 3\n"]
)
def test_settings_that_cannot_be_read_are_told(copy, project, settings):
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    answer = copy("test", TARGET)
    assert answer.returncode == 2
    assert "pyproject.toml" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize("place", ["project", "project/tests/unit", "."])
def test_tokens_of_pytest_are_replayed(copy, project, monkeypatch, place):
    (project / "pyproject.toml").write_text(SETTINGS["pyproject.toml"], encoding="utf-8")
    here = (project.parent / place).resolve()
    monkeypatch.chdir(here)
    where = ["project/tests"] if place == "." else []
    told = pytest_in(here, *where)
    found = re.search(r"mz1-\S+", told)
    assert found is not None, told
    token = found.group()
    again = copy("replay", token)
    assert again.returncode == 1, again.stdout + again.stderr
    assert "the recorded schedule, replayed" in again.stdout
    replayed = pytest_in(here, *where, f"--mazurka-replay={token}")
    assert "strategy replay" in replayed
    assert "1 failed, 1 deselected" in replayed


def test_a_limit_of_executions_is_told(copy, project):
    (project / "pyproject.toml").write_text(SETTINGS["pyproject.toml"], encoding="utf-8")
    one = copy("test", f"{TARGET}::test_add", "--executions", "1")
    assert "1 partial order, run once, then the limit of 1 execution was hit" in one.stdout
    two = copy("test", f"{TARGET}::test_add", "--executions", "2")
    assert "then the limit of 2 executions was hit" in " ".join(two.stdout.split())
