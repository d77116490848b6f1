"""Writing to terminals and pipes: safe text, the right glyphs, no surprises on a closed pipe.

Nothing that comes from an input file may change how a terminal behaves, so every such string
goes through `safe`; rich's markup is never interpreted.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console

from mazurka.errors import MazurkaError


@dataclass(frozen=True)
class Glyphs:
    """The few characters that are not plain ASCII, or what stands for them."""

    arrow: str
    rule: str
    cross: str
    ellipsis: str
    dash: str
    unicode: bool


UNICODE = Glyphs("➜", "─", "✗", "…", "—", True)
ASCII = Glyphs("->", "-", "x", "...", "-", False)


class Paper(Console):
    """A console on which a closed pipe is an ordinary `BrokenPipeError`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make_console(stream: TextIO | None = None, *, width: int | None = None) -> Paper:
    """A console for a stream: colours only on a terminal, and never with NO_COLOR."""
    columns = width or width_of_output()
    return Paper(
        file=stream or sys.stdout, width=columns, highlight=False, markup=False, emoji=False
    )


def width_of_output() -> int:
    """The width of all reports: what COLUMNS says, else the terminal's that stdout is, else 80.

    pytest has the same rule, so that a report fits into its frame; and what goes to a file does not
    depend on the terminal from which it was sent there.
    """
    return shutil.get_terminal_size((80, 24)).columns


def glyphs_for(console: Console) -> Glyphs:
    return UNICODE if console.encoding.lower().replace("_", "-").startswith("utf") else ASCII


def safe(text: str, glyphs: Glyphs = UNICODE) -> str:
    """The text with everything unprintable written as an escape, on one line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe_character(character, glyphs) for character in text)


def _safe_character(character: str, glyphs: Glyphs) -> str:
    if character == "\t":
        return " "
    if character.isprintable() and (glyphs.unicode or character.isascii()):
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


WIDTH = 120
"""Of a longer line, the part around the place is shown."""
INDENT = "  "


def excerpt(error: MazurkaError, glyphs: Glyphs = UNICODE) -> list[str]:
    """The line and its carets; nothing where the column is unknown, or the file has changed."""
    if error.file is None or error.line is None or error.column is None:
        return []
    text, column = _read_line(error.file, error.line), error.column
    if not text.strip() or not 1 <= column <= len(text) + 1:
        return []
    end = min(error.end_column or column + 1, len(text) + 1)
    first = len(text) - len(text.lstrip()) if column - 1 < WIDTH else column - 1 - WIDTH // 2
    first = min(first, column - 1)
    before, shown = text[first : column - 1], text[first : first + WIDTH].rstrip()
    room = max(first + len(shown) - (column - 1), 1)
    marked = text[column - 1 : min(end - 1, column - 1 + room)]
    carets = "^" * max(cell_len(safe(marked, glyphs)), 1)
    return [INDENT + safe(shown, glyphs), INDENT + " " * cell_len(safe(before, glyphs)) + carets]


def _read_line(file: str, line: int) -> str:
    from mazurka.ir.program import split_lines  # the command line starts without the IR

    try:
        if not Path(file).is_file():  # a pipe has been read to its end
            return ""
        lines = split_lines(Path(file).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""
