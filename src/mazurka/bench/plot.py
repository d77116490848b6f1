"""Draw times on a logarithmic scale: a group of lines for each case, a line for each tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mazurka.report.svg import CHARACTER, Drawing, text_width

MARK = "mazurka-plot"
"""In the beginning of every plot."""
MARGIN, ROW, GROUP_GAP, HEAD = 16, 17, 12, 46
SCALE = 420.0
"""Pixels from the left end of the scale to its right end."""
LEAST_SECONDS = 0.001


@dataclass(frozen=True)
class PlotLine:
    """One time, or that there is none."""

    name: str
    seconds: float | None
    note: str = ""
    """Stands behind the end of the line."""
    decided: bool = True
    """Whether the time is that of an answer; else it is what was spent without one."""


def draw_times(title: str, groups: Sequence[tuple[str, Sequence[PlotLine]]]) -> str:
    """Draw groups of times below each other, all on one scale from a power of ten to another."""
    drawing = Drawing(title, MARK)
    lines = [line for _, group in groups for line in group]
    known = [max(line.seconds, LEAST_SECONDS) for line in lines if line.seconds is not None]
    low = math.floor(math.log10(min(known, default=LEAST_SECONDS)))
    high = max(math.ceil(math.log10(max(known, default=1.0))), low + 1)
    left = MARGIN + max((text_width(line.name) for line in lines), default=0.0) + 2 * CHARACTER

    def place(seconds: float) -> float:
        exponent = math.log10(max(seconds, LEAST_SECONDS))
        return left + SCALE * (exponent - low) / (high - low)

    heights = [ROW * (len(group) + 1) + GROUP_GAP for _, group in groups]
    bottom = HEAD + sum(heights)
    drawing.text(MARGIN, 20, title, "bold")
    for exponent in range(low, high + 1):
        x = place(10.0**exponent)
        drawing.line(x, HEAD - 8, x, bottom, "rule")
        drawing.text(x, HEAD - 12, f"{10.0**exponent:g} s", "small dim", anchor="middle")
    y = float(HEAD)
    for (name, group), height in zip(groups, heights, strict=True):
        drawing.text(MARGIN, y + 12, name, "bold")
        for number, line in enumerate(group, 1):
            _draw_line(drawing, line, left, y + ROW * number, place)
        y += height
    return drawing.finish()


def _draw_line(
    drawing: Drawing, line: PlotLine, left: float, y: float, place: Callable[[float], float]
) -> None:
    drawing.text(left - CHARACTER, y + 12, line.name, "dim", anchor="end")
    end = left
    if line.seconds is not None:
        end = place(line.seconds)
        drawing.line(left, y + 8, end, y + 8, "message" if line.decided else "life")
        drawing.dot(end, y + 8, "dot" if line.decided else "dot bad")
    drawing.text(end + CHARACTER, y + 12, line.note, "small" if line.decided else "small bad")
