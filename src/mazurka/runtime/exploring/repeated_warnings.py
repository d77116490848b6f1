"""Warnings of a test: each is shown once, and not in each of thousands of executions.

A test that records warnings itself (`warnings.catch_warnings(record=True)`, `pytest.warns`) puts
its own function in place of this one for as long, and gets all of them in every execution.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from mazurka.runtime.core.sites import is_plumbing_file, user_frame

_NAMES = ("warnings", "_py_warnings")


@contextmanager
def show_warnings_once() -> Iterator[None]:
    """Keep warnings back, and show each of them once at the end."""
    if getattr(sys.flags, "context_aware_warnings", False):
        yield  # those who record them do so in a context of their own, and would get none
        return
    shown = warnings.showwarning
    kept: dict[tuple[str, str, str, int], tuple[Any, ...]] = {}

    def keep(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        if is_plumbing_file(filename):
            filename, lineno = _find_line(sys._getframe(1), (filename, lineno))
            line = None
        key = (str(message), category.__qualname__, filename, lineno)
        kept.setdefault(key, (message, category, filename, lineno, file, line))

    warnings.showwarning = keep
    try:
        yield
    finally:
        if warnings.showwarning is keep:
            warnings.showwarning = shown
        for one in kept.values():
            shown(*one)


def _find_line(frame: FrameType | None, otherwise: tuple[str, int]) -> tuple[str, int]:
    """Find the user's line that has warned: rewritten code calls functions through Mazurka's."""
    while frame is not None and frame.f_globals.get("__name__") in _NAMES:
        frame = frame.f_back
    found = user_frame(frame)
    return otherwise if found is None else (found.f_code.co_filename, found.f_lineno)
