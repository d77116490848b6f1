"""`concurrent.futures` under control.

Its executors and futures are Python classes over threads, locks, conditions and queues, and work
as they are.  Four things are in the way.

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
from _thread import get_ident
from concurrent.futures import _base
from itertools import count
from types import TracebackType
from typing import Any
from zlib import crc32

from mazurka.runtime.core.naming import ATTRIBUTE
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.tasks import Unwind

NUMBER = "_mazurka_number"


class NoLock:
    """Nothing to wait for."""

    def __enter__(self) -> bool:
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    acquire = __enter__

    def release(self) -> None:
        pass


class Ordered(dict[Any, None]):
    """A set that keeps the order in which its elements were added."""

    def add(self, element: Any) -> None:
        self[element] = None

    def discard(self, element: Any) -> None:
        self.pop(element, None)

    def remove(self, element: Any) -> None:
        del self[element]


def _init(self: Any, *arguments: Any, **named: Any) -> None:
    original(pool.ThreadPoolExecutor, "__init__")(self, *arguments, **named)
    if session.current.ident == get_ident():
        self._threads = Ordered()


def executor_of(thread: Any) -> Any:
    """The executor to which a thread belongs, which lets it end when the interpreter does."""
    if getattr(thread, "_target", None) is not pool._worker:
        return None
    return thread._args[0]()


def _number_of(future: Any) -> int:
    """For a future of a run: who created it, and when in that thread's life."""
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


def install(patches: Patches) -> None:
    patches.methods(pool.ThreadPoolExecutor, __init__=_init)
    patches.attribute(pool, "_global_shutdown_lock", NoLock())
    _base.LOGGER.addFilter(_is_news)
    patches.append(lambda: _base.LOGGER.removeFilter(_is_news))
    _number_futures(patches)


def forget(executor: Any, thread: Any) -> None:
    """A thread has gone with its run, and its executor may live on."""
    executor._threads.discard(thread)
    pool._threads_queues.pop(thread, None)  # type: ignore[attr-defined]


def reset_names() -> None:
    """Let the names of executors' threads be the same in every run."""
    pool.ThreadPoolExecutor._counter = count().__next__  # type: ignore[attr-defined]
