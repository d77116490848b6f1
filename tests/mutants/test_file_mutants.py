"""Deliberately broken ways to observe files: each misses a failure of some program."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from mazurka import explore
from mazurka.runtime.python import opaque
from mazurka.runtime.python.file_places import Knowledge
from mazurka.runtime.python.library.files import FileOperation
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.older_files import OlderFiles
from tests.unit.runtime.observed_programs import module_of

HEAD = """
import os, threading
PLACE = os.path.dirname(__file__)
PATH = os.path.join(PLACE, "n")
def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
PROGRAMS = {
    "a missing folder": """
        def make():
            if not os.path.exists(PATH):
                os.mkdir(PATH)
        together(make, make)
        """,
    "an open file": """
        with open(PATH, "w+") as one, open(PATH, "r") as other:
            def write():
                one.write("1")
                one.flush()
            def read():
                assert other.read() == ""
            together(read, write)
        """,
    "a listing": """
        def make():
            os.mkdir(PATH)
        def look():
            assert "n" not in os.listdir(PLACE)
        together(look, make)
        """,
    "a folder above": """
        os.mkdir(PATH)
        def move():
            os.rename(PATH, PATH + "2")
        def make():
            os.mkdir(PATH + "/x")
        together(make, move)
        """,
    "two names": """
        with open(PATH, "w") as one:
            os.rename(PATH, PATH + "2")
            with open(PATH + "2") as other:
                def write():
                    one.write("1")
                    one.flush()
                def read():
                    assert other.read() == ""
                together(read, write)
        """,
}
use = FileOperation.use


def reads_only(self: FileOperation, path: str, entry: How, contents: How | None = None) -> None:
    use(self, path, How.READ_ALL, contents)


def does_nothing(self: object, *arguments: object, **named: object) -> None:
    """Note nothing."""


def nothing(self: object, *arguments: object) -> list[Any]:
    return []


MUTANTS: dict[str, tuple[str, list[tuple[Any, str, Any]]]] = {
    "creating reads": ("a missing folder", [(FileOperation, "use", reads_only)]),
    "files stay": ("a missing folder", [(OlderFiles, "put_back", does_nothing)]),
    "file objects do not reach their files": (
        "an open file",
        [(opaque, "parts_of_file", lambda thing: [])],
    ),
    "a listing reads nothing": ("a listing", [(Knowledge, "inside", nothing)]),
    "folders above do not count": ("a folder above", [(Knowledge, "above", nothing)]),
    "a moved file is another one": ("two names", [(Knowledge, "identify", does_nothing)]),
}


def is_missed(folder: Path, program: str) -> bool:
    body = textwrap.indent(textwrap.dedent(PROGRAMS[program]), "    ")
    module = module_of(folder, f"{HEAD}def program():{body}")
    return explore(module.program, preemptions=2).verdict != "violated"


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, changes = MUTANTS[name]
    for owner, attribute, value in changes:
        monkeypatch.setattr(owner, attribute, value)
    assert is_missed(tmp_path, program)


@pytest.mark.parametrize("program", sorted({program for program, _ in MUTANTS.values()}))
def test_the_original_misses_nothing(program: str, tmp_path: Path) -> None:
    assert not is_missed(tmp_path, program)
