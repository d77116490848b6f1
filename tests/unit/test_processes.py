"""One function starts all processes; none executes what lies in the current directory."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mazurka
from mazurka import processes
from mazurka.processes import PIPE, TimeoutExpired, find_program, python, run, start

HOME = Path(mazurka.__file__).parent
STARTERS = frozenset({"subprocess", "_posixsubprocess", "_winapi", "pty", "get_context"})
"""What can start a process: modules, and a function of `multiprocessing`."""
STARTING = ("exec", "spawn", "posix_spawn", "system", "popen", "fork", "startfile")
"""How functions of `os` that start processes begin."""
NAMED = frozenset(
    {"executable", "create_subprocess_exec", "create_subprocess_shell", "ProcessPoolExecutor"}
)
HOLDERS = frozenset({"sys", "asyncio", "concurrent", "futures"})
"""More names that lead to processes, and whose they are."""
FORKS = frozenset(
    {
        "runtime/exploring/isolated.py",
        "runtime/exploring/plain_run.py",
        "runtime/exploring/workers/parallel.py",
        "runtime/exploring/workers/process.py",
        "runtime/exploring/workers/table.py",
        "runtime/primitives/process_lock.py",
        "runtime/primitives/thread_pool.py",
        "symbolic/solving/solver.py",
    }
)
"""May use `multiprocessing`: its pipes, locks and pools of threads, and copies of this process,
which execute no other program (`get_context("fork")`)."""
COPIES = frozenset(
    {("cli/own_process.py", "os.fork"), ("runtime/program/lock_watch.py", "os.fork")}
)
"""The command, and the process that watches a test, go on in a copy of themselves."""


def test_one_function_starts_all_processes() -> None:
    found = [
        f"{path.relative_to(HOME)}:{line}: {what}"
        for path in sorted(HOME.rglob("*.py"))
        if path != Path(processes.__file__)
        for line, what in find_starters(path.read_text("utf-8"), path.relative_to(HOME).as_posix())
    ]
    assert found == []


def find_starters(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Find what can start a process in the text of a module."""
    for node in ast.walk(ast.parse(text)):
        for dotted in names_of(node):
            if starts_processes(dotted, name) and (name, dotted) not in COPIES:
                yield node.lineno, dotted


def names_of(node: ast.AST) -> list[str]:
    """Return the dotted names of what a node imports or asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return [f"{node.value.id}.{node.attr}"]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get_context":
        given = [getattr(each, "value", None) for each in node.args]
        return [] if given == ["fork"] else ["get_context"]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("__import__", "_module")):
        return [str(getattr(each, "value", None)) for each in node.args]
    return []


def starts_processes(dotted: str, name: str) -> bool:
    first, _, rest = dotted.partition(".")
    if first == "multiprocessing":
        return name not in FORKS
    return (
        first in STARTERS
        or (first in ("os", "posix", "nt") and rest.startswith(STARTING))
        or (first in HOLDERS and rest.rpartition(".")[2] in NAMED)
    )


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "def work():\n    from subprocess import run",
        "import os\nos.execv('/bin/sh', [])",
        "import os\nos.posix_spawn('/bin/sh', [], {})",
        "from os import system",
        "import sys\nsys.executable",
        "from sys import executable",
        "import multiprocessing",
        "from multiprocessing.context import Process",
        "from concurrent.futures import ProcessPoolExecutor",
        "import asyncio\nasyncio.create_subprocess_exec",
        "__import__('subprocess')",
        "import importlib\nimportlib.import_module('subprocess')",
        "import posix\nposix.execv",
    ],
)
def test_another_way_to_start_a_process_is_noticed(text: str) -> None:
    assert list(find_starters(text, "ltl/parsing.py")) != []


def test_only_forks_are_allowed_where_multiprocessing_is() -> None:
    inside = min(FORKS)
    assert list(find_starters("m.get_context('fork')", inside)) == []
    assert list(find_starters("m.get_context('spawn')", inside)) != []
    assert list(find_starters("m.get_context()", inside)) != []


# -- how they are started --------------------------------------------------------------------


@pytest.mark.parametrize("tests", [False, True])
def test_a_process_of_python_is_isolated(
    tests: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It executes nothing of the current directory, nor of a relative directory of `PYTHONPATH`."""
    marker = tmp_path / "executed"
    for name in sorted(sys.stdlib_module_names):
        (tmp_path / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "" if tests else f".{os.pathsep}")
    command = python("mazurka.errors:suggest_file", "nothing", tests=tests)
    done = run(command, stderr=PIPE, directory=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not marker.exists()


def test_a_process_takes_mazurka_from_where_this_one_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version may be installed, or lie in the current directory."""
    (tmp_path / "mazurka").mkdir()
    (tmp_path / "mazurka" / "__init__.py").write_text("raise SystemExit(7)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command = python("mazurka.errors:suggest_file", "nothing", tests=True)
    assert run(command, directory=tmp_path).returncode == 0


def test_a_process_finds_packages_where_this_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a directory of `PYTHONPATH`; but not in the current one."""
    place = tmp_path / "place"
    (place / "pysat").mkdir(parents=True)
    (place / "pysat" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(place)])
    for name in [name for name in sys.modules if name.partition(".")[0] == "pysat"]:
        monkeypatch.delitem(sys.modules, name)
    assert str(place) in processes.find_places()
    monkeypatch.chdir(place)
    assert str(place) not in processes.find_places()


def test_an_isolated_process_hands_on_no_relative_directories(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "src", str(tmp_path)]))
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(tmp_path)]))
    given = processes.make_environment(as_it_is=False)
    assert given["PYTHONPATH"] == given["PATH"] == str(tmp_path)
    assert given["PYTHONSAFEPATH"] == "1"
    monkeypatch.setenv("PATH", "")
    assert processes.make_environment(as_it_is=False)["PATH"] == os.defpath
    assert processes.make_environment(as_it_is=True) == dict(os.environ)


def test_programs_of_the_current_directory_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "cpp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", ""]))
    assert find_program("cpp") != str(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("cpp") == str(program)
    for relative in ("cpp", "./cpp"):
        with pytest.raises(FileNotFoundError, match="absolute"):
            start([relative])


def test_a_process_runs_in_the_root_directory_unless_told_otherwise(tmp_path: Path) -> None:
    """Numba, for one, reads settings in the current directory."""
    where = [sys.executable, "-I", "-c", "import os; print(os.getcwd())"]
    assert run(where, stdout=PIPE, text=True).stdout.strip() == os.path.abspath(os.sep)
    there = run(where, stdout=PIPE, text=True, directory=tmp_path).stdout.strip()
    assert os.path.samefile(there, tmp_path)


def test_a_process_that_takes_too_long_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    usual = processes.start
    monkeypatch.setattr(
        processes, "start", lambda *a, **b: begun.append(usual(*a, **b)) or begun[0]
    )
    with pytest.raises(TimeoutExpired):
        run([sys.executable, "-I", "-c", "import time; time.sleep(1e6)"], seconds=0.01)
    assert begun[0].returncode is not None


def test_what_is_given_arrives(tmp_path: Path) -> None:
    echo = [sys.executable, "-I", "-c", "import sys; print(sys.stdin.read().upper())"]
    assert run(echo, given="model", stdout=PIPE, text=True).stdout.strip() == "MODEL"
