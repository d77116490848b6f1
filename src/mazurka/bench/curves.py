"""Draw rates over numbers of workers: a panel for each case, both scales logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mazurka.bench.plot import MARK
from mazurka.report.svg import Drawing

MARGIN, HEAD, GAP = 16.0, 44.0, 40.0
LEFT, WIDTH, HEIGHT = 64.0, 250.0, 170.0
"""Room for the numbers of the scale, and the size of a panel."""
IN_A_ROW = 2
LABEL = 70.0
"""Room for the name of a curve behind its end."""


@dataclass(frozen=True)
class Curve:
    """A rate for each number of workers.  The number 0 stands for what has none: a line across."""

    name: str
    style: str
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Panel:
    title: str
    curves: tuple[Curve, ...]


def draw_panels(title: str, panels: Sequence[Panel]) -> str:
    """Draw panels beside and below each other, all on the same scales."""
    drawing = Drawing(title, MARK)
    drawing.text(MARGIN, 20, title, "bold")
    points = [point for panel in panels for curve in panel.curves for point in curve.points]
    rates = [rate for _, rate in points] or [1.0]
    scales = Scales(
        max((number for number, _ in points), default=1),
        math.floor(math.log10(min(rates))),
        math.floor(math.log10(max(rates))) + 1,
    )
    for number, panel in enumerate(panels):
        down, across = divmod(number, IN_A_ROW)
        x = MARGIN + LEFT + across * (LEFT + WIDTH + LABEL + GAP)
        y = HEAD + 20 + down * (HEIGHT + 2 * GAP)
        scales.draw(drawing, panel, x, y)
    return drawing.finish()


@dataclass(frozen=True)
class Scales:
    """From one worker to the most, and from one power of ten to another."""

    most: int
    low: int
    high: int

    def place_x(self, workers: int) -> float:
        return WIDTH * math.log2(workers) / max(math.log2(self.most), 1.0)

    def place_y(self, rate: float) -> float:
        return HEIGHT * (self.high - math.log10(rate)) / (self.high - self.low)

    def draw(self, drawing: Drawing, panel: Panel, x: float, y: float) -> None:
        """Draw a panel whose upper left corner is at a point."""
        drawing.text(x, y - 10, panel.title, "bold")
        for exponent in range(self.low, self.high + 1):
            at = y + self.place_y(10.0**exponent)
            drawing.line(x, at, x + WIDTH, at, "rule")
            drawing.text(x - 6, at + 4, power(exponent), "small dim", anchor="end")
        workers = 1
        while workers <= self.most:
            at = x + self.place_x(workers)
            drawing.line(at, y, at, y + HEIGHT, "rule")
            drawing.text(at, y + HEIGHT + 14, str(workers), "small dim", anchor="middle")
            workers *= 2
        for curve in panel.curves:
            self.draw_curve(drawing, curve, x, y)

    def draw_curve(self, drawing: Drawing, curve: Curve, x: float, y: float) -> None:
        placed = [
            (x + (self.place_x(workers) if workers else WIDTH), y + self.place_y(rate))
            for workers, rate in curve.points
        ]
        if not placed:
            return
        if curve.points[0][0] == 0:
            drawing.line(x, placed[0][1], x + WIDTH, placed[0][1], curve.style)
        for (one_x, one_y), (next_x, next_y) in pairwise(placed):
            drawing.line(one_x, one_y, next_x, next_y, curve.style)
        for at_x, at_y in placed:
            drawing.dot(at_x, at_y, "dot")
        drawing.text(placed[-1][0] + 8, placed[-1][1] + 4, curve.name, "small")


def power(exponent: int) -> str:
    """`10 M`, `100 k`."""
    for unit, name in ((9, " G"), (6, " M"), (3, " k")):
        if exponent >= unit:
            return f"{10 ** (exponent - unit)}{name}"
    return f"{10.0**exponent:g}"
