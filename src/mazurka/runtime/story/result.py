"""The result of an exploration, as `mazurka.explore` returns it."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.runtime.story.findings import Findings


@dataclass(kw_only=True)
class Result(Findings):
    """The result of `mazurka.explore`; true where the test holds."""

    def report(self, width: int | None = None, *, full: bool = False) -> str:
        """The result for people, as plain text; `full` shows rows that are folded otherwise."""
        from mazurka.runtime.story.report import write_report  # loads rich, which takes a while

        return write_report(self, width=width, full=full)
