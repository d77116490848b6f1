"""Virtual time.

Each thread has its own time.  It passes while the thread sleeps or waits in vain, and when it
learns of what another thread did later (`Scheduler._pass_time_on`).  So the clock that a thread
sees depends on its past alone, as everything must that it may base a decision on, and nobody
really waits.
"""

from __future__ import annotations

import time
from _thread import get_ident
from collections.abc import Callable
from typing import Any

from mazurka.runtime.naming import spend
from mazurka.runtime.operations import Nap
from mazurka.runtime.scheduler import session
from mazurka.runtime.spinning import LEAP, Rounds

_SECOND = 10**9


def _sleeper(real: Callable[[float], None]) -> Callable[[float], None]:
    def sleep(seconds: float, /) -> None:
        run = session.current
        if run.ident != get_ident():
            real(seconds)
            return
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        run.point(Nap())
        spend(run, float(seconds))

    return sleep


def virtual(real: Callable[[], Any], nanoseconds: bool = False) -> Callable[[], Any]:
    """A clock that shows the thread's own time, and a little more at each look."""
    start = real()

    def clock() -> Any:
        run = session.current
        if run.ident != get_ident():
            return real()
        me = run.running
        rounds = me.rounds
        if rounds is None:
            rounds = me.rounds = Rounds()
        rounds.polls = True
        me.time += rounds.tick
        rounds.tick *= LEAP
        return start + int(me.time * _SECOND) if nanoseconds else start + me.time

    return clock


def replacements() -> list[tuple[Any, Any]]:
    """The functions of `time`, and the virtual ones that stand for them."""
    found: list[tuple[Any, Any]] = [(time.sleep, _sleeper(time.sleep))]
    for name in ("monotonic", "perf_counter", "time"):
        for suffix in ("", "_ns"):
            real = getattr(time, name + suffix)
            ours = virtual(real, bool(suffix))
            ours.__name__ = name + suffix
            found.append((real, ours))
    return found
