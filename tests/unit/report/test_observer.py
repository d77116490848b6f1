"""The progress line: drawn on terminals only, and removed without a trace."""

from __future__ import annotations

import io

from mazurka.report.observer import CLEAR, ProgressLine, bytes_text, finish, observer_for
from mazurka.search import Silent, Statistics

STATISTICS = Statistics(states=1_234_567, depth=4_000, seconds=1.5, peak_bytes=35_000_000)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_silence_where_nobody_looks():
    assert isinstance(observer_for(io.StringIO()), Silent)
    assert isinstance(observer_for(Terminal()), ProgressLine)


def test_the_line_tells_how_the_search_stands():
    terminal = Terminal()
    observer_for(terminal).progress(STATISTICS)
    line = terminal.getvalue().removeprefix(CLEAR)
    assert line == "1,234,567 states  823,045/s  depth 4,000  35 MB  1.5 s"


def test_it_is_not_drawn_too_often():
    terminal = Terminal()
    observer = observer_for(terminal)
    for _ in range(100):
        observer.progress(STATISTICS)
    assert terminal.getvalue().count("states") == 1


def test_it_leaves_nothing_behind():
    terminal = Terminal()
    observer = observer_for(terminal)
    finish(observer)
    assert terminal.getvalue() == ""
    observer.message("preparing the engine, first run only")
    finish(observer)
    assert terminal.getvalue().endswith(CLEAR)


def test_a_long_message_does_not_wrap(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    observer_for(terminal).message("x" * 100)
    assert terminal.getvalue() == CLEAR + "x" * 39


def test_bytes():
    assert [bytes_text(n) for n in (0, 999, 1500, 2_000_000, 3_200_000_000)] == [
        "0 B", "999 B", "2 kB", "2 MB", "3.2 GB",
    ]  # fmt: skip


def test_a_pipe_gets_notices_once_and_nothing_else():
    log = io.StringIO()
    observer = observer_for(log)
    observer.notice("preparing the engine")
    observer.notice("preparing the engine")
    observer.message("looking around")
    observer.progress(STATISTICS)
    assert log.getvalue() == "mazurka: preparing the engine\n"
