"""Deliberately broken ways to observe files, views and settings: each misses a failure."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from mazurka import explore
from mazurka.runtime.python import opaque
from mazurka.runtime.python.library import settings, views
from mazurka.runtime.python.library.files import FileOperation
from mazurka.runtime.python.places.files import Knowledge
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.older_files import OlderFiles
from mazurka.runtime.sharing.older_settings import OlderSettings
from mazurka.runtime.sharing.places import SharedPlace
from tests.unit.runtime.observed_programs import module_of

HEAD = """
import csv, io, os, threading
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
    "a view": """
        data = bytearray(b"a")
        kept = []
        together(lambda: data.append(1), lambda: kept.append(memoryview(data)))
        """,
    "a dialect of csv": """
        got = []
        def register():
            csv.register_dialect("mine", delimiter=";")
        def look():
            got.append("mine" in csv.list_dialects())
        together(register, look)
        assert got == [True]
        """,
    "two writers around one file": """
        file = io.StringIO()
        first, second = csv.writer(file), csv.writer(file)
        together(lambda: first.writerow([1]), lambda: second.writerow([2]))
        assert file.getvalue()[0] == "1"
        """,
    "the largest field of csv": """
        def read():
            for row in csv.reader(["abcd"]):
                pass
        together(read, lambda: csv.field_size_limit(3))
        """,
    "the current directory": """
        os.chdir(PLACE)
        def move():
            os.chdir("/")
        def look():
            assert os.getcwd() != "/"
        together(look, move)
        """,
}
UNORDERED = """
        data = bytearray(b"a")
        def view():
            shown = memoryview(data)
            shown[0]
        def change():
            try:
                data.append(1)
            except BufferError:
                pass
        together(view, change)
        """
"""A program whose outcome depends on when the view ends."""
use = FileOperation.use


def reads_only(self: FileOperation, path: str, entry: How, contents: How | None = None) -> None:
    use(self, path, How.READ_ALL, contents)


def does_nothing(self: object, *arguments: object, **named: object) -> None:
    """Note nothing."""


def nothing(self: object, *arguments: object) -> list[Any]:
    return []


MUTANTS: dict[str, tuple[str, list[tuple[Any, str, Any]]]] = {
    "creating reads": ("a missing folder", [(FileOperation, "use", reads_only)]),
    "files stay": ("a missing folder", [(OlderFiles, "put_back", nothing)]),
    "file objects do not reach their files": (
        "an open file",
        [(opaque, "parts_of_file", lambda thing: [])],
    ),
    "a listing reads nothing": ("a listing", [(Knowledge, "inside", nothing)]),
    "folders above do not count": ("a folder above", [(Knowledge, "above", nothing)]),
    "views are not seen": ("a view", [(views, "part_of", lambda shown, how: None)]),
    "who reads a setting is not seen": (
        "the current directory",
        [(settings, "PLACES", {"the current directory": SharedPlace("elsewhere")})],
    ),
    "settings stay": ("a dialect of csv", [(OlderSettings, "put_back", does_nothing)]),
    "what C code holds and calls does not count": (
        "two writers around one file",
        [(opaque, "_parts_of_owner", nothing)],
    ),
    "objects read no settings": ("the largest field of csv", [(opaque, "READ_BY_OBJECTS", {})]),
    "a moved file is another one": ("two names", [(Knowledge, "identify", does_nothing)]),
}


def verdict_of(folder: Path, program: str) -> str:
    body = textwrap.indent(textwrap.dedent(program), "    ")
    module = module_of(folder, f"{HEAD}def program():{body}")
    return explore(module.program, preemptions=2).verdict


def is_missed(folder: Path, program: str) -> bool:
    return verdict_of(folder, PROGRAMS[program]) != "violated"


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, changes = MUTANTS[name]
    for owner, attribute, value in changes:
        monkeypatch.setattr(owner, attribute, value)
    assert is_missed(tmp_path, program)


@pytest.mark.parametrize("program", sorted({program for program, _ in MUTANTS.values()}))
def test_the_original_misses_nothing(program: str, tmp_path: Path) -> None:
    assert not is_missed(tmp_path, program)


def test_an_end_that_is_not_noted_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verdict_of(tmp_path, UNORDERED) == "inconclusive"
    monkeypatch.setattr(views, "use_at_end", does_nothing)
    assert verdict_of(tmp_path, UNORDERED) == "holds"
