"""What the documentation shows is what happens: models are accepted, commands print that output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.search.reading import Reading
from tests.docs.pages import (
    ROOT,
    Block,
    agrees,
    blocks,
    commands,
    environment,
    name_of,
    normalised,
    pages,
    prepare_directory,
    run,
    run_here,
)

pytestmark = pytest.mark.unseen
"""Pages show what users get, so their sessions of pytest make all runs."""
PAGES = pages()
PYTHON = [(page, block) for page in PAGES for block in blocks(page) if block.language == "python"]
TESTS = [(page, block) for page, block in PYTHON if block.marker.startswith("test file")]
MODELS = [
    (page, block)
    for page, block in PYTHON
    if block.marker != "api" and not block.marker.startswith("test file")
]
PROGRAMS = [(page, block) for page, block in PYTHON if block.marker == "api"]
SHOWING = [page for page in PAGES if any(block.language == "console" for block in blocks(page))]

LANGUAGES = {"", "console", "python", "sh"}


def title(value: object) -> str:
    if isinstance(value, Block):
        return f"line {value.line}"
    assert isinstance(value, Path)
    return name_of(value)


every_page = pytest.mark.parametrize("page", PAGES, ids=title)


@every_page
def test_blocks_are_of_a_kind_that_is_checked(page: Path) -> None:
    """A misspelt language, or `$` in a block that nobody runs, would go unchecked."""
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{name_of(page)}:{block.line}"
        if block.language != "console":
            assert not any(line.startswith("$ ") for line in block.lines)


@pytest.mark.parametrize(("page", "block"), MODELS, ids=title)
def test_model_is_accepted(page: Path, block: Block, tmp_path: Path) -> None:
    path = tmp_path / (block.file or "model.py")
    path.write_text(block.text, encoding="utf-8")
    assert load_program(str(path), Reading()).threads


@pytest.mark.parametrize(("page", "block"), TESTS, ids=title)
def test_files_with_tests_are_used(page: Path, block: Block) -> None:
    """A file that no command of its page names would go unchecked."""
    used = [command.text for other in blocks(page) for command in commands(other)]
    assert any(str(block.file) in text or "pytest" in text for text in used), block.file


@pytest.mark.parametrize(("page", "block"), PROGRAMS, ids=title)
def test_program_runs(page: Path, block: Block, tmp_path: Path) -> None:
    prepare_directory(page, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", block.text],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", SHOWING, ids=title)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    """Those of the README as users start them; those of other pages here, where that can be."""
    perform = run if page.name == "README.md" else run_here
    prepare_directory(page, tmp_path)
    for block in blocks(page):
        if block.language != "console":
            continue
        assert commands(block), f"{name_of(page)}:{block.line}: no command"
        for command in commands(block):
            printed = perform(command.text, tmp_path)
            if not agrees(command.output, printed):
                where = f"{name_of(page)}:{command.line}: {command.text}"
                hint = "`python -m tests.docs.refresh` rewrites outputs that have changed"
                shown = "\n".join(normalised(command.output))
                pytest.fail(
                    f"{where}\n{hint}\n\nshown:\n{shown}\n\nprinted:\n" + "\n".join(printed)
                )


def anchors(page: Path) -> set[str]:
    """The fragments that a page's headings make, as GitHub forms them."""
    found = set()
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            heading = line.lstrip("#").strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, fragment = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), f"{name_of(page)}: {target}"
        if fragment:
            assert fragment in anchors(goal), f"{name_of(page)}: {target}"


@every_page
def test_files_that_are_named_exist(page: Path) -> None:
    """Paths into the repository that a page gives in code type; a star of `<...>` is no path."""
    for path in re.findall(r"`((?:src|tests|examples|docs)/[\w./-]+)`", prose(page)):
        if path == "tests/papers":
            continue  # comes with the first reduction, as the pages say
        assert (ROOT / path).exists(), f"{name_of(page)}: {path}"


def test_every_page_is_in_the_index() -> None:
    listed = set(re.findall(r"\]\(([\w-]+\.md)", prose(ROOT / "docs" / "README.md")))
    there = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert there == listed


def test_the_map_has_every_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for home in sorted((ROOT / "src" / "mazurka").rglob("__init__.py")):
        package = home.parent.relative_to(ROOT).as_posix()
        if package != "src/mazurka/frontend":
            assert f"`{package}`" in text, package


def test_the_test_command_is_one_line() -> None:
    """CI takes it from the README and runs it word for word."""
    marked = [b for b in blocks(ROOT / "README.md") if b.marker == "test command"]
    assert [block.lines for block in marked] == [
        ("python3 -m pip install -e '.[test]' && python3 -m pytest -n auto",)
    ]
