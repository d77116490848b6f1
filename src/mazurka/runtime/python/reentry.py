"""C code that enters Python code in the middle of an operation.

A lazy proxy of C code looks whether its object is there, calls a factory, and stores what that
returns.  While the factory runs, other threads may run: the check and the store are two operations.
The same holds for whatever C code calls, a function that an object of C code holds, a method of an
argument, a finalizer.  So an operation of C code ends where Python code begins, and where that
returns, the thread stands before the same operation once more.

Whoever calls it, Python code that begins and ends in a thread is reported to the profile function
of that thread (`sys.setprofile`), and nothing else in the thread can run at that moment.  A profile
function is set during operations at scheduling points, and otherwise in places where Python code
inside of an operation is known to have come to operations of its own.

*Why the other places need none.*  An access that is no point is noted with the number of operations
that there had been by then (`sharing.locations`).  C code touches its objects before and after
Python code; if no operation of the thread lies in between, the number is the same, and one note
stands for all.  If there is one, the place is learned, and the exploration begins anew.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Sequence
from functools import cache, partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from types import FrameType
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.frame_variables import reported
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import RUNTIME_FOLDER, sites
from mazurka.runtime.python.containers import Part, PendingAccess, approach_all
from mazurka.runtime.sharing.locations import learned, points
from mazurka.runtime.sharing.monitoring import unobserved

Begin: TypeAlias = Callable[[], list[PendingAccess]]
"""Stands before an operation, and returns what has to be settled after it."""
Again: TypeAlias = Callable[[Any], list[PendingAccess]]
"""The same after Python code, which has returned a value to C code: that may look into it."""

AWAITS: Final = CO_COROUTINE | CO_ASYNC_GENERATOR
"""Flags of code that yields to whoever has called `send`.  That operation is over then; and CPython
takes the coroutine for suspended before it tells the profile function that the frame is left, so
another thread could resume a coroutine that has not been left yet."""


class SplitOperation:
    """An operation of C code, which Python code splits; the profile function of its thread.

    Code of the runtime splits it only if it has come to an operation or has entered code of the
    program: C code that calls C code is never interrupted, even if a handle stands in between
    (`calls.FunctionHandle`).
    """

    __slots__ = ("_again", "_count", "_frame", "_splits", "pending")

    def __init__(self, begin: Begin, again: Again) -> None:
        """`again` stands before what C code does after Python code."""
        self._again = again
        self._frame: FrameType | None = None
        """The frame of the Python code that C code has entered."""
        self._splits = False
        """Whether code of the program has begun since then."""
        self.pending = begin()
        self._count = now.count

    def __call__(self, frame: FrameType, event: str, value: object) -> None:
        if event == "call":
            if self._frame is None:
                self._frame = frame
                self._splits = False
                self.settle()
            if not self._splits:
                self._splits = not frame.f_code.co_filename.startswith(RUNTIME_FOLDER)
        elif event == "return" and self._frame is frame:
            self._frame = None
            if frame.f_code.co_flags & AWAITS:
                return
            if self._splits or self._count != now.count:
                reported.add(frame)
                try:
                    self.go_on_after_return(value)
                finally:
                    reported.discard(frame)

    def go_on_after_return(self, value: object = None) -> None:
        """Stand before the operation once more; the frame that has returned is still there."""
        if session.current.ident == get_ident():
            self.pending = self._again(value)
            self._count = now.count

    def settle(self) -> None:
        """Update the states of the objects: another thread may run from here on."""
        for access in self.pending:
            access.settle()


@cache
def _place_of(site: int) -> str:
    """Name a place where Python code comes to operations inside of one of C code."""
    return f"callbacks at {sites[site]}:{sites[site].column}"


def perform_in_turns(
    parts: Sequence[Part], site: int, action: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    """Perform an action of C code on several objects, which may enter Python code."""
    if not parts or session.current.ident != get_ident():
        return action(*arguments, **named)

    def begin(_: object = None) -> list[PendingAccess]:
        return approach_all(parts, site)

    return _perform(SplitOperation(begin, begin), site, action, *arguments, **named)


def perform_exclusively(
    parts: Sequence[Part],
    inside: set[int],
    error: Exception,
    site: int,
    action: Callable[..., Any],
    thing: Any,
    /,
    *arguments: Any,
) -> Any:
    """Perform an action of C code that must not be begun again before it is done: the interpreter
    would crash.  Raise the error if a thread is inside; `inside` has the identities of the objects
    of which that is so."""

    def begin(_: object = None) -> list[PendingAccess]:
        return approach_all(parts, site)

    operation = SplitOperation(begin, begin)
    if id(thing) in inside:
        operation.settle()
        raise type(error)(*error.args)
    inside.add(id(thing))
    try:
        return _perform(operation, site, action, *arguments)
    finally:
        inside.discard(id(thing))


def compute(
    reading: Sequence[Part],
    changing: Sequence[Part],
    look: Callable[[], Any],
    site: int,
    action: Callable[..., Any],
    *arguments: Any,
) -> Any:
    """Perform an action of C code that looks for a value, and else computes and stores it.

    Looking reads the object.  If the value is computed by Python code, others can come in between;
    storing it changes the object.  Without a scheduling point nobody sees whether there is Python
    code, so there the whole action counts as a change.  So it does, for the whole exploration, once
    C code alone has stored something (`look` gives what it may change).
    """
    if session.current.ident != get_ident():
        return action(*arguments)
    label = f"C code alone computes {_place_of(site)}"
    before: list[Any] = []

    def begin() -> list[PendingAccess]:
        pending = approach_all(reading, site)
        before.append(look())
        return pending

    def again(_: object) -> list[PendingAccess]:
        before.clear()
        return approach_all(changing, site)

    if site not in points or now.alone or label in learned.moving:
        whole = SplitOperation(partial(approach_all, changing, site), again)
        return _perform(whole, site, action, *arguments)
    try:
        return _perform(SplitOperation(begin, again), site, action, *arguments)
    finally:
        if before and look() != before[-1] and not session.current.over:
            learned.learn_moving(label)


def perform_split(
    begin: Begin,
    again: Again,
    site: int,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """Perform an action of C code that may enter Python code; to be called under control."""
    return _perform(SplitOperation(begin, again), site, action, *arguments, **named)


def perform_watched(
    begin: Begin,
    again: Again,
    site: int,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """Do the same with an action that looks into what Python code returns to it: that is to be seen
    even where no scheduling point is needed so far."""
    operation = SplitOperation(begin, again)
    if now.alone:
        return _perform(operation, site, action, *arguments, **named)
    return _perform_split(operation, action, *arguments, **named)


def _perform(
    operation: SplitOperation,
    site: int,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    place = _place_of(site)
    if not operation.pending and place not in learned.moving:
        return _perform_unsplit(place, action, *arguments, **named)
    return _perform_split(operation, action, *arguments, **named)


def _perform_split(
    operation: SplitOperation, action: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    before = sys.getprofile()
    if before is not None and type(before) is not SplitOperation:
        unobserved.note_code("Python code that C code enters", "a profile function is set")
        before, watch = None, None
    else:
        watch = operation
        sys.setprofile(watch)
    try:
        return action(*arguments, **named)
    finally:
        if watch is not None:
            if sys.getprofile() is not watch and not session.current.over:
                unobserved.note_code("Python code that C code enters", "it sets a profile function")
            sys.setprofile(before)
        operation.settle()


def _perform_unsplit(
    place: str, action: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    """Perform an action without a scheduling point; learn where Python code inside has some."""
    count = now.count
    try:
        return action(*arguments, **named)
    finally:
        if now.count != count and not session.current.over and place not in learned.moving:
            learned.moving.add(place)
            learned.news.append(place)
