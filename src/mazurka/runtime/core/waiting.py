"""What a thread waits for inside the library: a future's result, the others at a barrier, work.

`Future.result` waits for a notification of a condition, and so does `Barrier.wait`; nobody who uses
them knows of that condition.  So where a thread stands for ever, the frames between the operation
and the user's code are looked at: they say what it is really about.  This costs nothing before.
"""

from __future__ import annotations

import concurrent.futures.thread as pool
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, _base
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from mazurka.report.words import counted
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import is_plumbing_file
from mazurka.runtime.core.values import called

RESULTS = (Future.result.__code__, Future.exception.__code__)
ARRIVALS: tuple[CodeType, ...] = tuple(
    getattr(threading.Barrier, name).__code__ for name in ("_wait", "_enter")
)
SEVERAL = {_base.wait.__code__: "fs", _base.as_completed.__code__: "pending"}
SHUTDOWN = pool.ThreadPoolExecutor.shutdown.__code__
WORKER = pool._worker.__code__
RUN = pool._WorkItem.run.__code__


@dataclass(frozen=True)
class Purpose:
    """What a wait is about."""

    sort: str
    """What the thing is that is waited for: a future, a barrier."""
    text: str
    """With `{}` for what it is called."""
    origin: str | None = None
    """What to call it where it has no name."""


def purpose_of(operation: object) -> Purpose | None:
    """What the thread that stands before an operation waits for, as its code calls it."""
    for frame in _library_frames(operation):
        code = frame.f_code
        if code in RESULTS:
            future = frame.f_locals["self"]
            return Purpose("future", "for {}, which has no result yet", name_of_future(future))
        if code in SEVERAL:
            return _several(frame.f_locals[SEVERAL[code]])
        if code in ARRIVALS:
            return _barrier(frame.f_locals["self"])
        if code is SHUTDOWN:
            return Purpose("executor", "for the executor's threads to end, now for {}")
        if code is WORKER:
            return Purpose("executor", "for work of its executor")
        if code is RUN:  # what was submitted is itself a call of the library
            return None
    return None


def _several(futures: Sequence[Future[Any]]) -> Purpose:
    waited = [future for future in futures if not future._state.endswith("ED")]
    known = [name for name in map(name_of_future, waited) if name is not None]
    named = f": {', '.join(known)}" if known else ""
    return Purpose("future", f"for {counted(len(waited), 'future')} to be done{named}")


def _barrier(barrier: Any) -> Purpose:
    arrived, parties = barrier._count, barrier._parties
    if barrier._state == 0:
        have = "has" if arrived == 1 else "have"
        return Purpose(
            "barrier", f"at {{}}, where {arrived} of {counted(parties, 'thread')} {have} arrived"
        )
    return Purpose("barrier", "to enter {}, which others are still leaving")


def name_of_future(future: Future[Any]) -> str | None:
    """`future of square(2)`, where an executor has the call that is to give it its result."""
    for item in _work():
        if item.future is future:
            call = getattr(item, "task", None) or (item.fn, item.args, item.kwargs)
            return f"future of {called(*call)}"
    return None


def _work() -> Iterator[Any]:
    """The calls that executors have begun, and those that wait for a thread."""
    for frame in sys._current_frames().values():
        inner: FrameType | None = frame
        while inner is not None:
            if inner.f_code is RUN:
                yield inner.f_locals["self"]
            inner = inner.f_back
    program = session.current.program
    executors = {id(one): one for one, _ in (program.executors if program else ())}
    for executor in executors.values():
        waiting = getattr(executor._work_queue, "items", ())
        yield from (item for item in waiting if item is not None)


def _library_frames(operation: object) -> Iterator[FrameType]:
    """The frames between an operation at which a thread stands and the user's code."""
    run = session.current
    for task, pending in zip(run.tasks, run.pending, strict=True):
        if pending is operation and task is not None and task.begun:
            frame = sys._current_frames().get(task.ident)
            while frame is not None and is_plumbing_file(frame.f_code.co_filename):
                yield frame
                frame = frame.f_back
            return
