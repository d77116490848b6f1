"""What every answer of Mazurka has: a verdict, its scope, what is wrong, and an exit status.

A check of a model (`report.verdict.Verdict`) and an exploration of a test
(`runtime.story.result.Result`) are answers.  This module imports no engine, so that a command can
ask for an exit status without loading one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mazurka.errors import MazurkaError
from mazurka.version import __version__

HOLDS = "holds"
VIOLATED = "violated"
INCONCLUSIVE = "inconclusive"
ERROR = "error"

EXIT_STATUS = {HOLDS: 0, VIOLATED: 1, ERROR: 2, INCONCLUSIVE: 3}
WORST_FIRST = (2, 1, 3, 0)
HEAD: Final = {"tool": "mazurka", "version": __version__, "schema_version": 1}
"""The beginning of every object that `--json` prints; `docs/output.schema.json` describes them all.

The version of the schema changes when a key is removed or gets another meaning."""
UNSOUND = "unsound-strategy"
"""The limit of a strategy that may miss violations by design."""
UNOBSERVED = "unobserved-code"
"""The limit of a search of real threads that have run Python code which nobody could observe."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, in words, and where."""

    kind: str
    message: str
    file: str | None = None
    line: int | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "message": self.message,
            "file": self.file or None,
            "line": self.line or None,
        }


@dataclass(kw_only=True)
class Answer:
    """The answer to what was asked of a program.

    `verdict` is `holds`, `violated`, `inconclusive` or `error`; `scope` says in a sentence what
    that covers.  What is wrong is in `violation`; why there is no answer is in `error`.
    """

    input: str | None
    verdict: str
    scope: str = ""
    strategy: str | None = None
    violation: Finding | None = None
    limits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: MazurkaError | None = None

    def __bool__(self) -> bool:
        """True where the program holds, so that `assert mazurka.check(...)` reads well."""
        return self.verdict == HOLDS

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.verdict]

    def to_json(self) -> dict[str, object]:
        """The object that `--json` prints."""
        return {
            **HEAD,
            "input": self.input,
            "verdict": self.verdict,
            "scope": self.scope,
            **self.search_json(),
            "notes": list(self.notes),
            "error": error_json(self.error) if self.error else None,
        }

    def search_json(self) -> dict[str, object]:
        """What was searched for, how, and what was found; each kind of answer has its own."""
        raise NotImplementedError


def error_json(error: MazurkaError) -> dict[str, object]:
    return {
        "message": error.message,
        "file": error.file,
        "line": error.line,
        "column": error.column,
    }


def worst_status(answers: Iterable[Answer]) -> int:
    """The exit status of several answers together."""
    statuses = {answer.exit_status for answer in answers}
    return next((status for status in WORST_FIRST if status in statuses), 0)
