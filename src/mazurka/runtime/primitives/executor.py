"""Executors and futures, `concurrent.futures`, under control.

They are Python classes over threads, locks, conditions and queues, and work as they are.  Four
things are in the way.

A thread pool keeps its threads in a set, whose order depends on addresses: here they are kept in
the order of their start.  `wait` and `as_completed` keep futures in sets, and lock them in the
order of their addresses: here futures have numbers, so that there is one order for all runs.

There is a lock for all executors of the process, held during every `submit`, which only keeps them
from starting threads while the interpreter ends.  That does not happen during a run, so the lock
would only order executors that have nothing to do with each other.  And workers log whatever ends
them, also that their run is over.
"""

from __future__ import annotations

import concurrent.futures.thread as pool
import logging
import sys
from _thread import get_ident
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, _base
from itertools import count
from types import CodeType, FrameType
from typing import Any
from zlib import crc32

from mazurka.report.words import counted
from mazurka.runtime.core.failures import RUN
from mazurka.runtime.core.operations import Explain, Purpose
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import is_plumbing_file
from mazurka.runtime.core.tasks import Unwind
from mazurka.runtime.core.values import show_call
from mazurka.runtime.primitives.condition import look_at_lock
from mazurka.runtime.primitives.primitive import ATTRIBUTE, Primitive, name_in_result
from mazurka.runtime.primitives.queue import SimpleQueue

NUMBER = "_mazurka_number"


class NullLock:
    """Stands for a lock that nobody has to wait for: one thread runs at a time."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *error: object) -> None:
        pass

    acquire = __enter__

    def release(self) -> None:
        pass


class OrderedThreads(dict[Any, None]):
    """A set that keeps the order in which its elements were added."""

    def add(self, element: Any) -> None:
        self[element] = None

    def discard(self, element: Any) -> None:
        self.pop(element, None)

    def remove(self, element: Any) -> None:
        del self[element]


def _init(self: Any, *arguments: Any, **named: Any) -> None:
    original(ThreadPoolExecutor, "__init__")(self, *arguments, **named)
    if session.current.ident == get_ident():
        self._threads = OrderedThreads()


def executor_of(thread: Any) -> Any:
    """Return the executor to which a thread belongs: it lets it end when the interpreter does."""
    if getattr(thread, "_target", None) is not pool._worker:
        return None
    return thread._args[0]()


def _number_of(future: Any) -> int:
    """Number a future of a run by who created it, and when in that thread's life."""
    found: int | None = future.__dict__.get(NUMBER)
    if found is None:
        model = future._condition.__dict__.get(ATTRIBUTE)
        if model is None:
            return object.__hash__(future)
        creator, _, place = str(model.name).rpartition("#")
        found = (crc32(creator.encode()) << 20) + (int(place) if creator else crc32(place.encode()))
        future.__dict__[NUMBER] = found
    return found


def _number_futures(patches: Patches) -> None:
    setattr(_base.Future, "__hash__", _number_of)  # noqa: B010 - a type checker knows better
    patches.append(lambda: delattr(_base.Future, "__hash__"))
    vars(_base)["id"] = hash
    patches.append(lambda: vars(_base).pop("id"))


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a message is about the program, and not about the end of its run."""
    return not (record.exc_info and isinstance(record.exc_info[1], Unwind))


def _install(patches: Patches) -> None:
    patches.methods(ThreadPoolExecutor, __init__=_init)
    patches.keep(ThreadPoolExecutor, "_counter")
    patches.attribute(pool, "_global_shutdown_lock", NullLock())
    # In place of a dictionary of weak references, whose code is observed.
    patches.attribute(pool, "_threads_queues", dict(pool._threads_queues))
    _base.LOGGER.addFilter(_is_news)
    patches.append(lambda: _base.LOGGER.removeFilter(_is_news))
    _number_futures(patches)


def _forget_threads(run: Scheduler) -> None:
    """Forget the threads of executors: they have gone with their run, and executors may live on.

    One that does starts new threads for new work, since it knows of none that is idle.
    """
    while run.executors:
        executor, thread = run.executors.pop()
        executor._threads.discard(thread)
        if not executor._threads:
            executor._idle_semaphore._value = 0
        pool._threads_queues.pop(thread, None)  # type: ignore[attr-defined]


def _reset_names() -> None:
    """Let the names of executors' threads be the same in every run."""
    ThreadPoolExecutor._counter = count().__next__  # type: ignore[attr-defined]


# -- what waits are about ------------------------------------------------------------------------


def _explain_result(frame: FrameType) -> Purpose:
    name = name_of_future(frame.f_locals["self"])
    return Purpose("future", "for {}, which has no result yet", name)


def _explain_several(frame: FrameType) -> Purpose:
    futures: Sequence[Future[Any]] = frame.f_locals[_SEVERAL[frame.f_code]]
    waited = [future for future in futures if not future._state.endswith("ED")]
    known = [name for name in map(name_of_future, waited) if name is not None]
    named = f": {', '.join(known)}" if known else ""
    return Purpose("future", f"for {counted(len(waited), 'future')} to be done{named}")


def _explain_shutdown(frame: FrameType) -> Purpose:
    return Purpose("executor", "for the executor's threads to end, now for {}")


def _explain_worker(frame: FrameType) -> Purpose:
    return Purpose("executor", "for work of its executor")


def _explain_nothing(frame: FrameType) -> None:
    """Say nothing: what was submitted is itself a call of the library."""


_SEVERAL = {_base.wait.__code__: "fs", _base.as_completed.__code__: "pending"}
"""Functions that wait for several futures, and the variables that hold these."""
_PURPOSES: dict[CodeType, Explain] = {
    Future.result.__code__: _explain_result,
    Future.exception.__code__: _explain_result,
    **dict.fromkeys(_SEVERAL, _explain_several),
    ThreadPoolExecutor.shutdown.__code__: _explain_shutdown,
    pool._worker.__code__: _explain_worker,
    RUN: _explain_nothing,
}


def name_of_future(future: Future[Any]) -> str | None:
    """Return `future of square(2)`, where an executor has the call that gives it its result."""
    for item in _find_work():
        if item.future is future:
            call = getattr(item, "task", None) or (item.fn, item.args, item.kwargs)
            return f"future of {show_call(*call)}"
    return None


def _find_work() -> Iterator[Any]:
    """Yield the calls that executors have begun, and those that wait for a thread."""
    for frame in sys._current_frames().values():
        inner: FrameType | None = frame
        while inner is not None:
            if inner.f_code is RUN:
                yield inner.f_locals["self"]
            inner = inner.f_back
    executors = {id(one): one for one, _ in session.current.executors}
    for executor in executors.values():
        waiting = executor._work_queue
        if type(waiting) is SimpleQueue:
            yield from (item for item in waiting.items if item is not None)


def find_future(frame: FrameType | None) -> Future[Any] | None:
    """Return the future whose method has called ours, if one has."""
    while frame is not None and is_plumbing_file(frame.f_code.co_filename):
        if frame.f_code.co_filename == _base.__file__:
            found = frame.f_locals.get("self")
            return found if isinstance(found, Future) else None
        frame = frame.f_back
    return None


def describe_state(future: Future[Any]) -> str:
    """Return `pending`, `running`, `finished` or `cancelled`."""
    return future._state.partition("_")[0].lower()


_look = look_at_lock(Future, "_condition")
PRIMITIVE = Primitive(
    words=("future",),
    classes=(Future, ThreadPoolExecutor),
    models=(),
    private={
        Future: dict.fromkeys(
            ("_state", "_result", "_exception", "_waiters", "_done_callbacks"), _look
        ),
        ThreadPoolExecutor: dict.fromkeys(
            ("_threads", "_shutdown", "_broken"), name_in_result(ThreadPoolExecutor)
        ),
    },
    parts=frozenset({"_condition"}),
    purposes=_PURPOSES,
    begin_run=_reset_names,
    end_run=_forget_threads,
    install=_install,
)
