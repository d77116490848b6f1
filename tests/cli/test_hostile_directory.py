"""Commands execute no file of the current directory, whatever its name: processes that they start,
neither.

The commands run in processes as users start them, in a directory with a file for each module of
the standard library, and for each package that Mazurka needs.  Each file notes that it was
executed.  Files with names of native libraries are no libraries, so that to load them is an error.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.limits import ENOUGH

from mazurka import processes
from mazurka.cache_folder import find_cache
from mazurka.processes import PIPE, python, run, start

OTHERS = {"mazurka", "numba", "llvmlite", "numpy", "pysat", "dd", "ray", "rich", "click", "clang"}
LIBRARIES = ("libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libz.so.1")
HOSTILE = """\
with open({executed!r}, "a") as file:
    file.write({name!r} + "\\n")
raise SystemExit(77)
"""
MODEL = (Path(__file__).parents[2] / "examples" / "lost_update.py").read_text("utf-8")
C_MODEL = """\
#include <assert.h>
#include <pthread.h>
int x;
void *add(void *given) { x++; return 0; }
int main(void) {
    pthread_t one;
    pthread_create(&one, 0, add, 0);
    pthread_join(one, 0);
    assert(x == 1);
    return 0;
}
"""
TEST = """\
import threading

class Box:
    n = 0

def test_it():
    box = Box()
    def add():
        box.n += 1
    threads = [threading.Thread(target=add) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert box.n == 2
"""


def write_hostile(folder: Path, names: set[str]) -> None:
    for name in names:
        text = HOSTILE.format(executed=str(folder / "executed"), name=name)
        (folder / f"{name}.py").write_text(text)
        if name in OTHERS:
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(text)
    for library in LIBRARIES:
        (folder / library).touch()


def executed(folder: Path) -> set[str]:
    file = folder / "executed"
    return set(file.read_text().split()) if file.exists() else set()


@pytest.fixture
def cache_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All kernels are there but one, which has to be compiled."""
    old = find_cache()
    assert old is not None
    folder = tmp_path / "cache"
    shutil.copytree(old.folder, folder, ignore=shutil.ignore_patterns("rewritten"))
    for file in folder.glob("depth_first-*"):
        file.unlink()
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(folder))


def test_no_command_executes_files_beside_the_model(
    tmp_path: Path, cache_without_one: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    write_hostile(here, set(sys.stdlib_module_names) | OTHERS)
    (here / "model_file.py").write_text(MODEL)
    (here / "program.c").write_text(C_MODEL)
    model = "model_file.py"
    commands = [
        ["check", model, "--trace", "trace.json"],
        ["check", model, "--strategy", "full", "--workers", "2"],
        ["check", model, "--engine", "symbolic"],
        ["check", "program.c"],
        ["compare", model, "--limit-time", "20"],
        ["replay", "trace.json"],
        ["export", model, "-o", "exported.json"],
    ]
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for command in commands:
        # As the command `mazurka` begins: its script does not lie in the current directory.
        done = run(
            python("mazurka.__main__:main", *command, tests=True),
            directory=here,
            stdout=PIPE,
            stderr=PIPE,
            text=True,
            seconds=ENOUGH,
        )
        assert executed(here) == set(), command
        assert done.returncode in (0, 1), (command, done.stderr)
    kept = os.listdir(tmp_path / "cache")
    assert any(name.startswith("depth_first-") for name in kept), "the engine has been compiled"


def test_every_process_of_an_engine_is_isolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the working directory is that of the files."""
    write_hostile(tmp_path, set(sys.stdlib_module_names) | OTHERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(tmp_path)]))
    monkeypatch.setattr(processes.sys, "path", ["", str(tmp_path), *sys.path])
    for target, given in (
        ("mazurka.ir.native.machine_code:emit_in_child", ("0",)),
        ("mazurka.symbolic.solving.process:serve", ()),
        ("mazurka.compiled.cache:build", (str(tmp_path / "c"), str(tmp_path / "c"), "store")),
    ):
        with start(python(target, *given), directory=tmp_path, stdin=PIPE) as process:
            process.communicate(timeout=ENOUGH)
        assert executed(tmp_path) == set(), target
    assert [name for name in os.listdir(tmp_path / "c") if name.startswith("store-")]


def test_a_test_may_lie_beside_files_with_names_of_the_library(tmp_path: Path) -> None:
    """Only its own imports reach them: neither Mazurka's, nor those of other libraries."""
    write_hostile(tmp_path, set(sys.stdlib_module_names) - {"calendar"})
    (tmp_path / "calendar.py").write_text("mine = True\n")
    (tmp_path / "test_file.py").write_text(f"import calendar\nassert calendar.mine\n{TEST}")
    command = python("mazurka.__main__:main", "test", "test_file.py", tests=True)
    done = run(command, directory=tmp_path, stdout=PIPE, stderr=PIPE, text=True, seconds=ENOUGH)
    assert executed(tmp_path) == set()
    assert (done.returncode, done.stderr) == (1, "")
    assert "assert box.n == 2" in done.stdout
