"""The live line on a terminal's stderr that tells how an exploration is getting on."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from mazurka.report.words import counted
from mazurka.search import Observer, Silent
from mazurka.stateless.explored import Explored

if TYPE_CHECKING:
    from mazurka.report.observer import ProgressLine


class LastProgress:
    """Remembers what it was told last, for the case that the search is interrupted."""

    def __init__(self) -> None:
        self.last: Explored | None = None

    def __call__(self, explored: Explored) -> None:
        self.last = replace(explored, levels=[replace(level) for level in explored.levels])

    @property
    def observer(self) -> Observer:
        """Who is told of anything else that takes time."""
        return Silent()


class ExplorationProgress(LastProgress):
    """Draws one line over and over, where stderr is a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.line: ProgressLine | None = None
        if sys.stderr.isatty():
            from mazurka.report.observer import ProgressLine  # loads what models need, too

            self.line = ProgressLine(sys.stderr)

    def __call__(self, explored: Explored) -> None:
        super().__call__(explored)
        if self.line is None:
            return
        bound = explored.levels[-1].bound if explored.levels else None
        at = "" if bound is None else f"{counted(bound, 'preemption')}: "
        rate = explored.runs / explored.seconds if explored.seconds else 0
        self.line.message(
            f"{at}{counted(explored.executions, 'execution')}  {rate:,.0f}/s"
            f"  {explored.seconds:.1f} s"
        )

    @property
    def observer(self) -> Observer:
        return self.line or Silent()

    def clear(self) -> None:
        if self.line is not None:
            self.line.clear()
