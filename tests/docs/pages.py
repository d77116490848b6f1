"""The documentation as data: its pages, their code blocks, and the commands these show.

A fenced block may have an HTML comment on the line before it, which tells what it is:

- `<!-- file: NAME -->` before a `python` block: a model that the page's commands use by that name;
  before a block without a language: a program in another language, or any other file, likewise;
- `<!-- test file: NAME -->` before a `python` block: tests with threads, used by that name;
- `<!-- api -->` before a `python` block: a program that calls Mazurka, and is run;
- any other `python` block is a model, and has to be accepted.

A `console` block shows commands, each on a line that begins with `$ `, with what they print.
A line `...` in the output stands for any lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from mazurka.cli.failures import run_guarded
from mazurka.cli.main import app
from tests.limits import ENOUGH

ROOT = Path(__file__).parents[2]
ELLIPSIS = "..."
PLUGIN = "mazurka.runtime.testing.pytest.plugin"


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line of content, counting from 1."""

    language: str
    marker: str
    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def file(self) -> str | None:
        kind, _, name = self.marker.partition(":")
        return name.strip() if kind in ("file", "test file") else None


@dataclass(frozen=True)
class Command:
    """A command line and the output that the page shows for it."""

    line: int
    text: str
    output: tuple[str, ...]


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    marker, opened, language = "", 0, ""
    content: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if opened:
            if line == "```":
                yield Block(language, marker, opened + 1, tuple(content))
                opened, marker = 0, ""
            else:
                content.append(line)
        elif line.startswith("```"):
            opened, language, content = number, line[3:].strip(), []
        elif line.strip():
            comment = re.fullmatch(r"<!-- (.*) -->", line.strip())
            marker = comment[1] if comment else ""


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    for offset, line in enumerate(block.lines):
        if line.startswith("$ "):
            found.append(Command(block.line + offset, line[2:], ()))
        elif found:
            last = found[-1]
            found[-1] = Command(last.line, last.text, (*last.output, line))
    return [Command(c.line, c.text, _without_blank_ends(c.output)) for c in found]


def _without_blank_ends(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("\n".join(lines).strip("\n").splitlines())


def prepare_directory(page: Path, directory: Path) -> None:
    """Make a directory look like the repository's root, as far as the page's commands see it."""
    (directory / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    for block in blocks(page):
        if block.file is not None:
            (directory / block.file).write_text(block.text, encoding="utf-8")


def run(command: str, directory: Path) -> tuple[str, ...]:
    """What a command line prints, as it would on a terminal of 100 columns without colours."""
    script = f"""
mazurka() {{ "{sys.executable}" -m mazurka "$@"; }}
python() {{ "{sys.executable}" "$@"; }}
pytest() {{ "{sys.executable}" -m pytest -p no:cacheprovider -p {PLUGIN} "$@"; }}
{command}"""
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=directory,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=ENOUGH,
        check=False,
    )
    return _without_blank_ends(tuple(done.stdout.decode("utf-8").splitlines()))


def run_here(command: str, directory: Path) -> tuple[str, ...]:
    """What `run` returns, but by this process where it can: to start one takes longer than most
    commands take."""
    words = words_for_mazurka(command)
    if words is None:
        return run(command, directory)
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with (
        patch.dict(os.environ, environment(), clear=True),
        contextlib.chdir(directory),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        run_guarded(app, words)
    return _without_blank_ends(tuple(printed.buffer.getvalue().decode("utf-8").splitlines()))


def words_for_mazurka(command: str) -> list[str] | None:
    """The arguments of a command that is Mazurka's alone, and that runs no code of others; None for
    one that needs a shell, or a process of its own."""
    if re.search(r"[|&;<>$`*?~#\\]", command):
        return None
    program, *words = shlex.split(command)
    return words if program == "mazurka" and words[0] in ("check", "compare", "export") else None


def environment() -> dict[str, str]:
    """The caller's environment, without what changes how pytest prints.

    With one of `CI` and `BUILD_NUMBER` set, pytest no longer shortens the lines of its summary.
    """
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    search = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {
        **kept,
        "PYTHONPATH": search.rstrip(os.pathsep),
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "100",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "NO_COLOR": "1",
    }


MEASURED = (
    # A row of `compare`: seconds, memory, and states/s and bytes/state where there is room.
    (re.compile(r"\d+\.\d{3}(\s+[\d,]+)?\s+(-|[\d.]+ [kMG]?B)(\s+(-|\d+\.\d))?$"), "MEASURED"),
    (re.compile(r"\b\d+\.\d+ ?s\b"), "TIME"),
    (re.compile(r"\bmz1-[\w-]+"), "TOKEN"),
    (re.compile(r"\b\d+(\.\d+)? [kMG]?B\b"), "MEMORY"),
    (
        re.compile(
            r'("(seconds|total_seconds|states_per_second|peak_bytes|bytes_per_state)": )[\d.e-]+'
        ),
        r"\1N",
    ),
)


def normalised(lines: tuple[str, ...]) -> list[str]:
    """The lines without what differs from run to run; a table's widths follow its numbers."""
    result = []
    for line in lines:
        text = line.rstrip()
        for pattern, replacement in MEASURED:
            text = pattern.sub(replacement, text)
        if "MEASURED" in text or text.startswith("strategy "):
            text = " ".join(text.split())
        result.append(text)
    return result


def agrees(shown: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Whether the page shows what was printed."""
    wanted = [
        r"(?:.*\n)*?" if line == ELLIPSIS else re.escape(line) + r"\n" for line in normalised(shown)
    ]
    return re.fullmatch("".join(wanted), "".join(f"{t}\n" for t in normalised(printed))) is not None
