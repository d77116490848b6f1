"""Dates: `datetime.now()` and `datetime.utcnow()` follow the virtual clock, where there is one.

The classes of `datetime` are C code, which asks the system for the time and cannot be patched; a
class that stands for `datetime` would be another class.  So the call is replaced, wherever
rewritten code calls such a method or passes it on: of the class itself, of a subclass, from a
variable, as a thread's target.  The result is what `fromtimestamp` makes of the virtual time.

`datetime.today()` calls `time.time`, which is patched; `date.today()` does so up to Python 3.14.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from functools import partial
from typing import Any, Final

from mazurka.runtime.primitives import clock

_made_from: Final[Any] = vars(datetime)["fromtimestamp"]
"""The method of the class itself, even for subclasses that override it."""


def follow_clock(function: Any) -> Callable[..., Any] | None:
    """Choose what `now` of a class calls instead; None if it is no date, or the time is real."""
    kind = function.__self__
    if clock.wall is None or not isinstance(kind, type) or not issubclass(kind, date):
        return None
    telling = _TELLING.get(function.__name__)
    return function if telling is None else partial(telling, function, kind)


def _now(_: Any, kind: type[datetime], /, tz: tzinfo | None = None) -> Any:
    assert clock.wall is not None
    return _made_from.__get__(None, kind)(clock.wall(), tz)


def _utcnow(function: Any, kind: type[datetime], /) -> Any:
    function()  # it may warn that it should not be used
    return _now(function, kind, UTC).replace(tzinfo=None)


def _today(function: Any, kind: type[date], /) -> Any:
    assert clock.wall is not None
    return date.fromtimestamp(clock.wall()) if kind is date else function()


_TELLING: Final[dict[str, Callable[..., Any]]] = {
    "now": _now,
    "utcnow": _utcnow,
    "today": _today,
}
