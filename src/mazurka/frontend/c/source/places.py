"""Places in the user's files, from places in preprocessed text.

The preprocessor leaves `# 12 "file.c"` where the text goes on in another file or line.  A place is
named by the user's file and line if that file can be read and has the line; otherwise by the
preprocessed text itself, so that a message can always show what it is about.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from mazurka.errors import read_number
from mazurka.ir.program import Span, split_lines

_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"')


class PlaceMap:
    """Which line of which file each line of a preprocessed text comes from."""

    def __init__(self, path: str, text: str, preprocessed: bool) -> None:
        self.path = path
        self.trusted = not preprocessed
        """Whether the files are those that the text was made of just now."""
        self.lines = split_lines(text)
        self.name = path if preprocessed else f"{path} (preprocessed)"
        """What the text itself is called."""
        self.sources: dict[str, str] = {self.name: text}
        self._texts: dict[str, list[str] | None] = {}
        self._named: dict[str, tuple[str, list[str] | None]] = {}
        self._starts = [0]
        self._origins: list[tuple[str, int]] = [(self.name, 1)]
        for number, line in enumerate(self.lines, start=1):
            if line.startswith("#") and (found := _MARKER.match(line)):
                self._starts.append(number)
                self._origins.append((unquote(found[2]), read_number(found[1])))

    def span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        """The place of a piece of the preprocessed text, in the user's file where that is known."""
        last = end_column if end_line == line else 0
        position = bisect_right(self._starts, line - 1) - 1
        if position <= 0:
            return Span(self.name, line, column, last)
        file, first = self._origins[position]
        number = first + line - self._starts[position] - 1
        name, lines = self._read(file)
        here = self.lines[line - 1]
        if lines is None or not 0 < number <= len(lines):
            return Span(self.name, line, column, last)
        if not self.trusted and not _same(here, lines[number - 1]):
            return Span(self.name, line, column, last)
        there = lines[number - 1]
        if there.rstrip() == here.rstrip():
            return Span(name, number, column, last)
        word = here[column - 1 : (last or len(here) + 1) - 1].strip()
        start = there.find(word) if word else -1
        if start >= 0:
            return Span(name, number, start + 1, start + 1 + len(word))
        return Span(name, number, len(there) - len(there.lstrip()) + 1)

    def _read(self, file: str) -> tuple[str, list[str] | None]:
        """The lines of a file that the text names, beside the text or from here."""
        if (known := self._named.get(file)) is None:
            known = self._named[file] = self._find(file)
        return known

    def _find(self, file: str) -> tuple[str, list[str] | None]:
        here = Path(self.path)
        if Path(file) == here:
            return self._lines(here)
        found = self._lines(here.parent / file)
        return found if found[1] is not None else self._lines(Path(file))

    def _lines(self, place: Path) -> tuple[str, list[str] | None]:
        name = str(place)
        if name not in self._texts:
            try:
                text = place.read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):
                self._texts[name] = None
            else:
                self._texts[name] = split_lines(text)
                self.sources.setdefault(name, text)
        return name, self._texts[name]


def quote(name: str) -> str:
    """The name of a file as a marker writes it."""
    return name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def unquote(name: str) -> str:
    """The file that a marker names."""
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], name)


def _same(here: str, there: str) -> bool:
    """Whether a preprocessed line may come from a line: they have a word in common, or none."""
    words = set(re.findall(r"\w+", here))
    return not words or bool(words & set(re.findall(r"\w+", there)))
