"""Virtual time.

Nobody really waits.  Each thread has its own time, which passes while it sleeps or waits in vain,
and when it learns of what another thread did later (`Scheduler._pass_time_on`): when it goes to
sleep, that is as early as what it knows allows.

A clock shows more than that: the latest moment that anybody has slept to, known or not, and a
little more at each look, so that no two looks show the same.  What a thread may base a decision on
must depend on the operations that come before it, so a look is one (`operations.Dial`): it comes
before or after others' looks, and before or after all that lets time pass.  The first run in which
anybody looks while there are several threads teaches that this matters (`Learned.news`).

The library looks at the clock, too, to work out how long it still has to wait.  That shows it its
thread's own time, and is no operation: it would only find that there is no time left, and to wait
and be woken in vain, at once, comes to the same.  Nor is it one where a record is logged.

What tells the time of day without being told it (`time.localtime()`, `datetime.now()`) tells that
of the virtual clock; for the classes of `datetime`, which cannot be patched, see `python.dates`.
Clocks that count what the processor has done are left as they are, and named in the result.
"""

from __future__ import annotations

import math
import time
from _thread import get_ident
from collections.abc import Callable, Iterator
from functools import partial
from sys import _getframe
from typing import Any, Final

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.operations import Nap, ReadClock, dial
from mazurka.runtime.core.patches import Patches, bind_as_builtin, is_builtin
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import reckons
from mazurka.runtime.core.spinning import FOREVER, LEAP, SpinHistory
from mazurka.runtime.core.travelled_clocks import find_originals, is_travelled
from mazurka.runtime.primitives.primitive import Primitive
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved

_SECOND = 10**9


def _make_sleep(real: Callable[[float], None]) -> Callable[[float], None]:
    def sleep(_module: object, seconds: float, /) -> None:
        run = session.current
        if run.ident != get_ident():
            real(seconds)
            return
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        run.point(Nap(float(seconds)))
        spend(run, float(seconds))

    return bind_as_builtin(sleep, real)


def make_virtual(
    real: Callable[..., Any],
    nanoseconds: bool = False,
    number: int | None = None,
    start: Any = None,
) -> Callable[[], Any]:
    """Make a clock that shows virtual time; the real one may take the number of a clock."""
    read = real if number is None else partial(real, number)
    start = align(read()) if start is None else start

    def clock(_module: object, /) -> Any:
        run = session.current
        if run.ident != get_ident() or is_travelled(real, number):
            return read()
        if reckons(_getframe(1)):
            _pass_moment(run)
        else:
            _look(run)
        now = run.running.time
        return start + round(now * _SECOND) if nanoseconds else start + now

    return bind_as_builtin(clock, real)


def align(start: Any) -> Any:
    """Return a moment just after a start, from which no two microseconds are told as one.

    A float for the time of day has a quarter of a microsecond of precision.  From an arbitrary
    start on, moments a microsecond apart are sometimes the same when a program rounds them, as
    `datetime` does, or cuts them off, and the verdict would depend on when the test is run.
    """
    if isinstance(start, int):
        return -(-start // 1000) * 1000
    return math.ceil(start * 64) / 64 + 2**-22  # whole microseconds, exactly, and a little more


def _look(run: Scheduler) -> None:
    """Let the running thread look at the clock, and know what time it is."""
    me = run.running
    operation: ReadClock | None = None
    if len(run.tasks) > 1:
        if not dial.is_read:
            dial.is_read = True
            learned.news.append("the clock")
        run.timed = True
        run.point(operation := ReadClock())
        run.times.pop(dial.clock.name, None)  # sleep begins by what its thread knows
    waits = operation is not None and operation.again
    if not waits:
        me.time = max(me.time, run.latest)
    _pass_moment(run, LEAP * LEAP if waits else LEAP)
    run.latest = max(run.latest, me.time)
    if operation is not None:
        operation.seen = f"{me.time:+.6f} s"


def _pass_moment(run: Scheduler, leap: int = LEAP) -> None:
    me = run.running
    rounds = me.rounds
    if rounds is None:
        rounds = me.rounds = SpinHistory()
    rounds.polls = True
    me.time += rounds.tick
    rounds.tick = rounds.tick * leap if rounds.tick < FOREVER else 0.0


def _make_teller(real: Callable[[float], Any], wall: Callable[[], float]) -> Callable[..., Any]:
    """Make `localtime`, `gmtime` or `ctime`, which take the time of day if they are given none."""

    def told(_module: object, seconds: float | None = None, /) -> Any:
        return real(wall() if seconds is None else seconds)

    return bind_as_builtin(told, real)


def _make_writer(
    real: Callable[..., str], wall: Callable[[], float], fixed: int
) -> Callable[..., str]:
    """Make `asctime` or `strftime`, which do so after a fixed number of other arguments."""
    local = time.localtime

    def written(_module: object, /, *given: Any) -> str:
        return real(*given, local(wall())) if len(given) == fixed else real(*given)

    return bind_as_builtin(written, real)


def _make_numbered(real: Callable[[int], Any], nanoseconds: bool) -> Callable[[int], Any]:
    """Make `clock_gettime`, which shows a clock by its number."""
    clocks = {
        number: make_virtual(real, nanoseconds, number)
        for name, number in vars(time).items()
        if name.startswith("CLOCK_") and not name.endswith("CPUTIME_ID")
    }

    def numbered(_module: object, number: int, /) -> Any:
        clock = clocks.get(number)
        if clock is not None:
            return clock()
        unobserved.note(f"time.{real.__name__}")
        return real(number)

    return bind_as_builtin(numbered, real)


def _of_day(wall: Callable[[], float]) -> Iterator[tuple[Any, Any]]:
    for real in filter(is_builtin, (time.localtime, time.gmtime, time.ctime)):
        yield real, _make_teller(real, wall)
    for written, fixed in ((time.asctime, 0), (time.strftime, 1)):
        if is_builtin(written):
            yield written, _make_writer(written, wall, fixed)


def _by_number() -> Iterator[tuple[Any, Any]]:
    for suffix in ("", "_ns"):
        real: Any = getattr(time, "clock_gettime" + suffix, None)  # not on all systems
        if is_builtin(real):
            yield real, _make_numbered(real, bool(suffix))


wall: Callable[[], float] | None = None
"""The virtual time of day, as long as there is one."""
began: float | None = None
"""The real time of day at which it begins."""


def _replace(undo: Patches, settings: ControlSettings) -> list[tuple[Any, Any]]:
    """Return the functions of `time`, and the virtual ones that stand for them.

    A function that something else stands for already, as a fixture that stops the time has it, is
    the program's own, and stays.
    """
    global wall, began
    if not settings.virtual_time:
        return []
    began = _time_of_day()
    found: list[tuple[Any, Any]] = []
    if is_builtin(time.sleep):
        found.append((time.sleep, _make_sleep(time.sleep)))
    for name in ("monotonic", "perf_counter", "time"):
        for suffix in ("", "_ns"):
            real = getattr(time, name + suffix)
            if is_builtin(real):
                found.append((real, make_virtual(real, bool(suffix))))
    wall = next((ours for real, ours in found if real is _time_of_day), None)
    if wall is None:
        wall = make_virtual(_time_of_day)
    undo.append(_forget)
    originals = [
        (real, make_virtual(real, in_ns, start=at)) for real, in_ns, at in find_originals()
    ]
    return [*found, *_of_day(wall), *_by_number(), *originals]


_time_of_day: Final = time.time


def _forget() -> None:
    global wall, began
    wall = began = None
    dial.is_read = False


PRIMITIVE = Primitive(
    words=(),
    classes=(),
    models=(),
    private={},
    parts=frozenset(),
    replace=_replace,
    install=lambda patches: None,
)
