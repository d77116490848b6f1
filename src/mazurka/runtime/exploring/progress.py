"""The live line on a terminal's stderr that tells how an exploration is getting on."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TextIO

from mazurka.report.words import counted
from mazurka.stateless.explored import Explored


class ExplorationProgress:
    """Draws one line on a terminal over and over."""

    def __init__(self, stream: TextIO) -> None:
        from mazurka.report.observer import ProgressLine  # loads what models need, too

        self.line = ProgressLine(stream)

    def __call__(self, explored: Explored) -> None:
        bound = explored.levels[-1].bound if explored.levels else None
        at = "" if bound is None else f"{counted(bound, 'preemption')}: "
        rate = explored.runs / explored.seconds if explored.seconds else 0
        self.line.message(
            f"{at}{counted(explored.executions, 'execution')}  {rate:,.0f}/s"
            f"  {explored.seconds:.1f} s"
        )


class Remembered:
    """Keeps the latest progress of a search, for the case that it is interrupted."""

    def __init__(self, shown: ExplorationProgress | None) -> None:
        self.shown = shown
        self.last: Explored | None = None

    def __call__(self, explored: Explored) -> None:
        self.last = replace(explored, levels=[replace(level) for level in explored.levels])
        if self.shown is not None:
            self.shown(explored)


def progress_on(stream: TextIO | None = None) -> ExplorationProgress | None:
    """Return a progress line for a terminal; None where nobody would see it."""
    stream = stream if stream is not None else sys.stderr
    return ExplorationProgress(stream) if stream.isatty() else None


def finish(progress: ExplorationProgress | None) -> None:
    if progress is not None:
        progress.line.clear()
