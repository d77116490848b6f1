"""Clocks that a program has replaced in place, by C code: the time of day of `time_machine`.

`time_machine` puts code of its own into the function objects `time.time`, `datetime.now` and their
like, so that whoever has them calls it.  While it does, such a clock is the program's own, and
shows what the program wants; it is called as it is.  A time that goes on from there asks for the
original clocks (`_time_machine.original_time_ns`), and these follow virtual time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

_STACKS: Final = ("traveller_stack", "coordinates_stack")
"""Where versions of `time_machine` keep the times to which the program has gone."""
_CLOCKS: Final = ("time", "time_ns", "clock_gettime", "clock_gettime_ns")
_OF_DAY: Final = (None, getattr(time, "CLOCK_REALTIME", None))


def _find(name: str) -> ModuleType | None:
    return sys.modules.get(name)


def is_travelled(real: Any, number: int | None) -> bool:
    """Tell whether the program has replaced a function of `time`; some take the number of a clock,
    and are replaced for that of the day alone."""
    if "time_machine" not in sys.modules:
        return False
    return number in _OF_DAY and real.__name__ in _CLOCKS and _is_travelling()


def _is_travelling() -> bool:
    library = _find("time_machine")
    return library is not None and any(vars(library).get(name) for name in _STACKS)


def find_originals() -> Iterator[tuple[Any, bool, Any]]:
    """Find the original clocks that can be called in spite of that, but only then; whether one
    counts nanoseconds, and what it shows now."""
    originals = _find("_time_machine")
    if originals is not None:
        for name, nanoseconds in (("time", False), ("time_ns", True)):
            real = getattr(originals, f"original_{name}", None)
            if real is not None:
                yield real, nanoseconds, real() if _is_travelling() else getattr(time, name)()
