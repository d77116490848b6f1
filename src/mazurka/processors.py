"""How many processors there are, and how many workers a search may have."""

from __future__ import annotations

import os

from mazurka.errors import OptionError

MOST_WORKERS = 256
"""No more help one machine; a larger number is a slip, and would fill the memory with processes."""


def processors() -> int:
    """How many there are for this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def refuse_many(option: str, workers: int) -> None:
    """The same number is refused on every machine, so that a test's own options work on all."""
    if workers > MOST_WORKERS:
        raise OptionError(
            f"{option} must be {MOST_WORKERS} or less, not {workers}; more than there are"
            f" processors ({processors()} here) do not make a search faster"
        )
