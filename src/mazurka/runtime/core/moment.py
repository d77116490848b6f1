"""The moment at which the run is: who runs, and since when.

The scheduler keeps it up to date; those who watch accesses read it at each of them.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

PATIENCE = 300
"""How many reads a thread may do, and nothing else, before somebody looks what it is doing."""


class Now:
    """The moment at which the run is, for those who watch accesses."""

    __slots__ = ("alone", "count", "idle", "limit", "repeats", "thread", "where")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.thread = 0
        self.count = 0
        """How many operations there have been, the last one by this thread."""
        self.repeats = False
        """Whether the run has been the same as the one before so far."""
        self.alone = True
        """No other thread has begun, or all that have are over and this one knows it."""
        self.idle = 0
        """Reads since the last operation or write."""
        self.limit = PATIENCE
        self.where: tuple[int, CodeType, int, dict[str, Any]] | None = None

    def forgive(self) -> None:
        """Take the thread to be busy, not waiting, and forget where it seemed to stay."""
        self.limit = PATIENCE
        self.where = None


now = Now()
