"""The nondeterminism guard: tests that do not do the same again are refused, with a reason."""

from __future__ import annotations

import itertools
import threading

import mazurka

LOCK = threading.Lock()
turns = itertools.count()
kept: list[int] = []


def alternating() -> None:
    if next(turns) % 2:
        with LOCK:
            pass
    with LOCK:
        pass


def cached() -> None:
    if not kept:
        with LOCK:
            kept.append(1)
    with LOCK:
        pass


def growing() -> None:
    kept.append(1)
    assert len(kept) < 3, f"{len(kept)}"


def test_what_differs_each_time_is_named() -> None:
    result = mazurka.explore(alternating, preemptions=1)
    assert result.verdict == "error"
    assert result.exit_status == 2
    text = str(result.error)
    assert "does not do the same again" in text
    assert "random" in text
    assert "clock" in text
    assert "LOCK" in text
    assert result.error is not None
    assert result.error.file is not None
    assert result.error.file.endswith("test_guard.py")


def test_state_left_by_the_first_execution_is_named() -> None:
    kept.clear()
    text = str(mazurka.explore(cached, preemptions=1).error)
    assert "the first execution has left something behind" in text


def test_endings_are_compared() -> None:
    kept[:] = [1]
    text = str(mazurka.explore(growing, preemptions=1).error)
    assert "it ends differently" in text
    assert "it passes" in text


def test_imports_of_the_first_execution_are_no_fault() -> None:
    import sys

    sys.modules.pop("colorsys", None)

    def imports() -> None:
        if "colorsys" not in sys.modules:
            with LOCK:
                import colorsys  # noqa: F401
        with LOCK:
            pass

    result = mazurka.explore(imports, preemptions=1)
    assert result.verdict == "holds", result.error
