"""The page on security lists what Mazurka starts, and what it looks at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import mazurka
from mazurka import cache_folder
from mazurka.runtime.testing.token_files import MARKS

HOME = Path(mazurka.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8")


def commands() -> Iterator[tuple[str, bool]]:
    """Find what the sources start: functions, with whether they run tests, and programs."""
    for path in HOME.rglob("*.py"):
        module = ".".join(("mazurka", *path.relative_to(HOME).with_suffix("").parts))
        tree = ast.parse(path.read_text("utf-8"))
        named = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "python":
                first = ast.unparse(node.args[0])
                found = named.get(first, first.strip("f'").replace("{__name__}", module))
                yield found, any(one.arg == "tests" for one in node.keywords)
            elif node.func.id == "find_program" and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value, False


def test_all_that_is_started_is_on_the_page() -> None:
    table = PAGE[PAGE.index("| process | task |") : PAGE.index("Workers of `mazurka test")]
    listed = {
        name: "run tests: with `-P`" in row
        for row in table.split("\n\n")[0].splitlines()[2:]
        for name in re.findall(r"`([^`]*)`", row.split("|")[1])
        if name != "/bin/sh"
    }
    started = dict(commands())
    assert {name: listed[name] for name in listed if ":" in name} == {
        name: tests for name, tests in started.items() if ":" in name
    }
    others = {name for name in started if ":" not in name} | {"spin", "gcc", "pan"}
    assert {name for name in listed if ":" not in name} == others


def test_the_marks_of_a_project_are_on_the_page() -> None:
    rule = PAGE[PAGE.index("It refuses a file outside") : PAGE.index("Absolute paths, `..`")]
    named = set(re.findall(r"`([^`]*)`", rule))
    assert {mark for mark in MARKS if not mark.startswith(".pytest")} == named - {".pytest"}
    assert "a dot in front" in " ".join(rule.split())


def test_the_places_of_the_cache_are_on_the_page(tmp_path: Path) -> None:
    for name in ("MAZURKA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"):
        assert name in cache_folder.VARIABLES
        assert name in PAGE
    assert f"~/.local/state/mazurka/{cache_folder.KEY_FILE}" in PAGE
