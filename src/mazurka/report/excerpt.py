"""The source line that an error is about, with a caret under the place."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len

from mazurka.errors import MazurkaError
from mazurka.report.terminal import UNICODE, Glyphs, safe

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
    try:
        if not Path(file).is_file():  # a pipe has been read to its end
            return ""
        lines = Path(file).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError):
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""
