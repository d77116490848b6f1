"""C programs of the corpus have the verdicts that they state.

The head of a file says what is expected, `// expect: violated assert "a part of the message"`, and
may give options, `// check: --property race`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict

pytest.importorskip("clang")

FOLDER = Path(__file__).parent / "c"
EXAMPLES = FOLDER.parents[2] / "examples"
PROGRAMS = [*sorted(FOLDER.glob("*.c")), *sorted(EXAMPLES.rglob("*.c"))]
EXPECTED = re.compile(r'// expect: (\w+)(?: (\w+))?(?: "(.*)")?')


INNER = re.compile(
    r"\bNone\b|\blife of|is written|scratch|temporary| of main:|\(preprocessed\)"
    r"|has any value| end\b$"
)
"""Words for what only Mazurka knows, which no trace of a C program contains."""


def options_of(text: str) -> dict[str, object]:
    found = re.search(r"^// check: (.*)$", text, re.MULTILINE)
    words = iter(shlex.split(found[1])) if found else iter(())
    options: dict[str, object] = {}
    for word in words:
        if word == "--property":
            options["properties"] = next(words).split(",")
        else:
            options[word.removeprefix("--").replace("-", "_")] = int(next(words))
    return options


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_c_program(path: Path) -> None:
    text = path.read_text()
    expected = EXPECTED.match(text)
    assert expected
    verdict = mazurka.check(path, strategy="full", **options_of(text))  # type: ignore[arg-type]
    assert verdict.verdict == expected[1]
    if expected[2]:
        assert verdict.violation is not None
        assert verdict.violation.kind == expected[2]
        assert (expected[3] or "") in verdict.violation.message
        for words in shown_words(verdict):
            assert INNER.search(words) is None, words


def shown_words(verdict: Verdict) -> Iterator[str]:
    """What a trace shows of the cells of a program, and its message."""
    assert verdict.violation is not None
    assert verdict.trace is not None
    yield verdict.violation.message
    for row in verdict.trace.rows:
        for place, value in (*row.reads.items(), *row.writes.items(), *row.locals.items()):
            if row.operation != "end":
                yield f"{place} {value} ({row.file})"
