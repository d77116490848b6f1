"""What a wait inside the standard library is about: a future's result, a barrier, work.

`Future.result` waits for a notification of a condition, and so does `Barrier.wait`; nobody who uses
them knows of that condition.  So where a thread stands for ever, the frames between the operation
and the user's code are looked at: the functions of the library that they run say what the wait is
about.  This costs nothing before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import NamedTuple, TypeAlias

from mazurka.runtime.core.sites import is_plumbing_file


class Purpose(NamedTuple):
    """What a wait is about."""

    sort: str
    """What the thing is that is waited for: a future, a barrier."""
    text: str
    """With `{}` for what it is called."""
    origin: str | None = None
    """What to call it where it has no name."""


Explain: TypeAlias = Callable[[FrameType], Purpose | None]
"""Says what a function of the library waits for, from its frame; None if nothing is to be said."""
_explained: dict[CodeType, Explain] = {}


def explain_waits(functions: Mapping[CodeType, Explain]) -> None:
    """Declare functions of the library that wait, each with what says for what."""
    _explained.update(functions)


def purpose_at(frame: FrameType | None) -> Purpose | None:
    """Return what a thread that stands at a frame waits for, as its code calls it."""
    while frame is not None and is_plumbing_file(frame.f_code.co_filename):
        explain = _explained.get(frame.f_code)
        if explain is not None:
            return explain(frame)
        frame = frame.f_back
    return None
