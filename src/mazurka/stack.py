"""Room on Python's stack for programs that are nested deeply.

Reading a program, its passes and the interpreter call themselves for each level of an expression.
Front ends refuse what is nested too deeply; what they accept must not depend on how deep the stack
is where a check begins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

MOST_FRAMES = 5_000
"""Enough for the deepest expressions and calls; the machine's stack has room for more."""


@contextmanager
def deep_stack() -> Iterator[None]:
    """Let functions call themselves that often, in this process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MOST_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
