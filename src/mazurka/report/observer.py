"""The live line on a terminal's stderr that tells how a search is getting on."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from mazurka.search import Observer, Silent, Statistics

INTERVAL = 0.1
CLEAR = "\r\x1b[2K"


def observer_for(stream: TextIO | None = None) -> Observer:
    """Progress where somebody can see it; elsewhere only what explains a pause."""
    stream = stream if stream is not None else sys.stderr
    return ProgressLine(stream) if stream.isatty() else Notices(stream)


def finish(observer: Observer) -> None:
    """Remove the progress line, if there is one, before anything else is printed."""
    if isinstance(observer, ProgressLine):
        observer.clear()


class Notices(Silent):
    """For logs and pipes: a line for each notice, once, and no progress."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.told: set[str] = set()

    def notice(self, text: str) -> None:
        if text not in self.told:
            self.told.add(text)
            self.stream.write(f"mazurka: {text}\n")
            self.stream.flush()


class ProgressLine:
    """One line that is drawn over and over, and leaves nothing behind."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.last = 0.0
        self.drawn = False

    def progress(self, statistics: Statistics) -> None:
        now = time.monotonic()
        if now - self.last < INTERVAL:
            return
        self.last = now
        self._draw(progress_text(statistics))

    def message(self, text: str) -> None:
        self._draw(text)

    notice = message

    def clear(self) -> None:
        if self.drawn:
            self.stream.write(CLEAR)
            self.stream.flush()
            self.drawn = False

    def _draw(self, text: str) -> None:
        self.stream.write(CLEAR + text[: self._width()])
        self.stream.flush()
        self.drawn = True

    def _width(self) -> int:
        import shutil

        return max(shutil.get_terminal_size().columns - 1, 20)


def progress_text(statistics: Statistics) -> str:
    """`1,234,567 states  812,000/s  depth 4,000  35 MB  1.5 s`, or executions that have ended."""
    if statistics.executions is not None:
        return "  ".join(
            (
                f"{statistics.executions:,} executions",
                f"{statistics.transitions:,} transitions",
                f"depth {statistics.depth:,}",
                f"{statistics.seconds:.1f} s",
            )
        )
    if statistics.unrolled is not None:
        rounds = f"{statistics.unrolled:,} {statistics.unrolled_unit}s"
        told = [rounds] if statistics.unrolled or not statistics.doing else []
        told += [statistics.doing] if statistics.doing else []
        memory, seconds = bytes_text(statistics.peak_bytes), f"{statistics.seconds:.1f} s"
        return "  ".join((*told, memory, seconds))
    return "  ".join(
        (
            f"{statistics.states:,} states",
            f"{statistics.states_per_second:,.0f}/s",
            f"depth {statistics.depth:,}",
            bytes_text(statistics.peak_bytes)
            if statistics.disk_bytes is None
            else f"{bytes_text(statistics.disk_bytes)} on disk",
            f"{statistics.seconds:.1f} s",
        )
    )


def bytes_text(count: int) -> str:
    """A number of bytes in the unit that suits it."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
