"""A time limit that holds in every phase of a check, not only while it searches.

`time_limit` begins the time; loops that may take long call `check_time` once a round.  Searches
ask how much is left when they begin, and come to an end by themselves.  The limit belongs to the
context (`contextvars`), so that it need not be handed through every function, and checks in
different threads have different ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from mazurka.errors import MazurkaError


class TimeLimitError(MazurkaError):
    """The time limit was reached; the message says in which phase."""


@dataclass(frozen=True)
class Deadline:
    """When the time of a check is up."""

    at: float
    clock: Callable[[], float]

    @property
    def left(self) -> float:
        return self.at - self.clock()


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(
    seconds: float | None, clock: Callable[[], float] = time.perf_counter
) -> Iterator[None]:
    """Let what happens inside take so many seconds; None leaves the limit that there is."""
    if seconds is None:
        yield
        return
    token = _deadline.set(Deadline(clock() + seconds, clock))
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float | None:
    """What is left of the time, 0 where nothing is; None where there is no limit."""
    deadline = _deadline.get()
    return None if deadline is None else max(deadline.left, 0.0)


def check_time(phase: str) -> None:
    """Raise `TimeLimitError` if the time is up; the phase is what is being done, as `reading`."""
    deadline = _deadline.get()
    if deadline is not None and deadline.left <= 0:
        raise TimeLimitError(f"the time limit was reached while {phase}")
