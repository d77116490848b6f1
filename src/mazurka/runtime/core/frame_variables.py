"""Read the local variables of a frame, and leave nothing behind in it.

Before Python 3.13 (PEP 667), `frame.f_locals` is a dictionary that the frame keeps: it goes on to
hold the values that variables had when somebody last asked.  An object that the program lets go of
would then end later than in a run in which nobody has asked, and so would what its end does, by
`__del__` or `weakref.finalize`: the run would not be the same.
"""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any, Final

KEEPS_COPY: Final = sys.version_info < (3, 13)
"""Whether a frame keeps what it has told of its variables."""

reported: Final[set[FrameType]] = set()
"""Frames about which a profile function is being told, and has let other threads run meanwhile."""


def _measure_count() -> int:
    """Count the references to a dictionary that a frame and one variable hold."""
    found = sys._getframe().f_locals
    return sys.getrefcount(found)


_LONE: Final = _measure_count()


def read_variables(frame: FrameType) -> dict[str, Any]:
    """Return the local variables of a frame, in a dictionary of the caller's own.

    What the frame keeps of them is taken out again, unless somebody else may look there: the
    program, which has called `locals()`, or a trace or profile function, after which the
    interpreter sets the variables to what it finds there, and those that it does not find to
    nothing.  The frames of modules and classes have no such copy.
    """
    found = frame.f_locals
    variables = dict(found)
    code = frame.f_code
    if (
        KEEPS_COPY
        and code.co_flags & CO_OPTIMIZED
        and sys.getrefcount(found) <= _LONE
        and frame.f_trace is None
        and frame not in reported
        and sys.gettrace() is None
        and sys.getprofile() is None
    ):
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            found.pop(name, None)  # not `clear`: the program may keep names of its own there
    return variables
