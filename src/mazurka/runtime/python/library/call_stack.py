"""The frames that a program sees: its own, without those that observe it.

A call that is observed goes through functions of the runtime, whose frames lie between those of the
program, and an exception that C code raises comes out of one.  Whoever looks for the caller, or
follows a traceback, is led past them, step by step.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import attrgetter
from types import CodeType, FrameType, TracebackType
from typing import Any, Final

from mazurka.runtime.core.sites import RUNTIME_FOLDER
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.python.variables import read_attribute

LEADING: Final = frozenset({"__traceback__", "tb_next", "f_back"})
"""Attributes that lead to a frame, or from one to the next."""
FRAME_MODULE: Final = getattr(sys, "_getframemodulename", None)


def is_of_runtime(code: CodeType) -> bool:
    """Whether code observes the program, or stands for a function of it."""
    return code.co_filename.startswith(RUNTIME_FOLDER) or at_present.rewriter.is_trap(code)


@performs(CallEffect.FINDS_FRAME)
def find_frame(function: Any, _: int, /, depth: int = 0) -> Any:
    """Call `sys._getframe` and the like."""
    if function is not FRAME_MODULE:
        return frame_above(sys._getframe(1), depth)
    try:
        return frame_above(sys._getframe(1), depth).f_globals.get("__name__")
    except ValueError:
        return None


def frame_above(frame: FrameType | None, depth: int) -> FrameType:
    """Go up so many frames of the program from a frame."""
    while frame is not None:
        if not is_of_runtime(frame.f_code):
            if depth <= 0:
                return frame
            depth -= 1
        frame = frame.f_back
    raise ValueError("call stack is not deep enough")


def follow_frames(thing: Any, name: str, site: int) -> Any:
    """`thing.name`, where the name leads to a frame or a traceback."""
    found = read_attribute(thing, name, site)
    if type(found) is FrameType:
        return _first_of_program(found, "f_back", lambda frame: frame)
    if type(found) is TracebackType:
        return _first_of_program(found, "tb_next", attrgetter("tb_frame"))
    return found


def _first_of_program(link: Any, follow: str, frame_of: Callable[[Any], FrameType]) -> Any:
    """Go on from one link of a chain to the first whose frame belongs to the program."""
    while link is not None and is_of_runtime(frame_of(link).f_code):
        link = getattr(link, follow)
    return link
