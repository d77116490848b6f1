"""Counters that are older than the runs: `_numbers = itertools.count()` in a module.

C code keeps where a counter stands, and it cannot be set back.  Without more, every run would get
other numbers, and other names made of them.  So a run does not move an older counter: it is told
the numbers that the counter would give if this were the first run.  After the exploration the
counter stands where it stood.
"""

from __future__ import annotations

import re
from _thread import get_ident
from itertools import count
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.names import names

_TEXT: Final = re.compile(r"count\((-?\d+)(?:, (-?\d+))?\)")


class OlderCounters:
    """Where older counters stand in the present run."""

    def __init__(self) -> None:
        self._epoch = 0
        self._next: dict[int, tuple[Any, int, int]] = {}
        """By identity: the counter, its next number, and the distance to the one after that."""

    def step(self, counter: Any) -> int:
        """Return the next number of a counter in this run."""
        run = session.current
        if self._epoch != run.epoch:
            self._epoch = run.epoch
            self._next.clear()
        found = self._next.get(id(counter))
        if found is None:
            match = _TEXT.fullmatch(repr(counter))
            assert match is not None, "whoever asks has seen that it counts whole numbers"
            found = counter, int(match[1]), int(match[2] or 1)
        self._next[id(counter)] = counter, found[1] + found[2], found[2]
        return found[1]


older_counters: Final = OlderCounters()


def is_older_counter(value: Any) -> bool:
    """Tell whether something is a counter of whole numbers that existed before the run, and whose
    numbers the running thread is told."""
    return (
        type(value) is count
        and session.current.ident == get_ident()
        and names.is_older(value)
        and _TEXT.fullmatch(repr(value)) is not None
    )
