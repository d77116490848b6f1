"""Front ends are found by being present; a file's name or content chooses one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mazurka import frontend
from mazurka.errors import InternalError, MazurkaError, OptionError
from mazurka.frontend.registry import choose_language, frontend_names, load_frontend

MODEL = "from mazurka.model import Int\n\n\ndef f():\n    pass\n\n\nthreads = [f()]\n"
EXPORTED = '{"format": "mazurka-program", "threads": []}'


def test_every_front_end_is_one_by_being_present() -> None:
    assert {"ir", "python"} <= set(frontend_names())
    assert not {"kit", "registry"} & set(frontend_names())
    suffixes = {name: load_frontend(name).suffixes for name in frontend_names()}
    assert suffixes["ir"] == (".json",)
    assert suffixes["python"] == (".py",)
    assert all(suffix.startswith(".") for found in suffixes.values() for suffix in found)


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(OptionError) as caught:
        choose_language("model.py", "cobol")
    known = ", ".join(frontend_names())
    assert caught.value.message == f"language 'cobol' is not known; there are: {known}"


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("model.py", "this is not even Python", "python"),
        ("program.json", "this is not even JSON", "ir"),
        ("model", MODEL, "python"),
        ("model.model", "threads = [f()]", "python"),
        ("program", EXPORTED, "ir"),
        ("program.txt", "\n " + EXPORTED, "ir"),
    ],
)
def test_the_name_comes_before_the_content(
    tmp_path: Path, name: str, text: str, language: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert choose_language(str(path)) == language


def test_a_language_that_is_given_comes_before_both(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    assert choose_language(str(path), "ir") == "ir"


def test_a_file_that_tells_nothing_is_refused_with_the_languages(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("threads are fun", encoding="utf-8")
    with pytest.raises(MazurkaError) as caught:
        choose_language(str(path))
    message = caught.value.message
    assert message.startswith(
        "neither its name nor its content tells the language; give --language"
    )
    assert all(f"{name} (" in message for name in frontend_names())
    assert caught.value.file == str(path)


def test_a_module_that_is_no_front_end_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "duo_parser.py").write_text("FRONT_END = None\n", encoding="utf-8")
    monkeypatch.setattr(frontend, "__path__", [*frontend.__path__, str(tmp_path)])
    with pytest.raises(InternalError) as caught:
        choose_language("model.py")
    sys.modules.pop("mazurka.frontend.duo_parser", None)
    assert caught.value.message == (
        "`mazurka.frontend.duo_parser` defines no FRONTEND; helpers of a front end go into a"
        " package with it"
    )


def test_a_file_that_is_not_there_is_reported_by_the_front_end(tmp_path: Path) -> None:
    assert choose_language(str(tmp_path / "none.txt")) == "python"
    assert choose_language(str(tmp_path)) == "python"
