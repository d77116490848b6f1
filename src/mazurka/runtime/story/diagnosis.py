"""What a failure is due to, in one sentence, for the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mazurka.runtime.core.sites import SourceLine, shown_path
from mazurka.runtime.story.paths import short_path

Part = str | SourceLine


@dataclass(frozen=True)
class Diagnosis:
    """What a failure is due to."""

    kind: str
    """`lost update`, `check then act`, `deadlock cycle`, ..."""
    parts: tuple[Part, ...]
    """The sentence; lines of source become `line 12` in it."""
    places: frozenset[str] = frozenset()
    """What people call the things that it is about."""

    def text(self, file: str | None) -> str:
        """The sentence; lines are those of `file`, unless named."""
        return "".join(
            part if isinstance(part, str) else _name_line(part, file) for part in self.parts
        )

    @property
    def lines(self) -> list[SourceLine]:
        return [part for part in self.parts if not isinstance(part, str)]

    def to_json(self) -> dict[str, object]:
        files = Counter(shown_path(line.file) for line in self.lines)
        return {
            "kind": self.kind,
            "text": self.text(files.most_common(1)[0][0] if files else None),
            "lines": [
                {"file": shown_path(one.file), "line": one.line, "source": one.source}
                for one in self.lines
            ],
        }


def _name_line(site: SourceLine, file: str | None) -> str:
    if shown_path(site.file) == file:
        return f"line {site.line}"
    return f"{short_path(site.file)}:{site.line}"
