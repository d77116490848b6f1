"""Pools of threads, `multiprocessing.pool.ThreadPool`, under control.

They are Python classes over threads and queues, and work as they are, but for one thing.  The
thread that looks after the workers waits for news of the pool (`_change_notifier`) at a pipe, as
it does in a pool of processes.  Nobody outside of the process has to do with the pipe of a pool of
threads, so here it is a queue of the process, which is under control.
"""

from __future__ import annotations

import queue
from _thread import get_ident
from multiprocessing.pool import Pool, ThreadPool  # also for tests that import it when they run
from types import SimpleNamespace
from typing import Any

from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.primitive import Primitive
from mazurka.runtime.primitives.queue import SimpleQueue


def _install(patches: Patches) -> None:
    def set_up_queues(self: Any) -> None:
        original(ThreadPool, "_setup_queues")(self)
        if session.current.ident == get_ident():
            self._ctx = SimpleNamespace(SimpleQueue=queue.SimpleQueue)  # makes the notifier

    def get_sentinels(self: Any) -> Any:
        if type(self._change_notifier) is SimpleQueue:
            return []
        return original(ThreadPool, "_get_sentinels")(self)

    def wait_for_updates(sentinels: Any, change_notifier: Any, timeout: Any = None) -> None:
        if type(change_notifier) is not SimpleQueue:
            original(Pool, "_wait_for_updates")(sentinels, change_notifier, timeout)
            return
        change_notifier.get()
        while not change_notifier.empty():
            change_notifier.get()

    patches.methods(ThreadPool, _setup_queues=set_up_queues, _get_sentinels=get_sentinels)
    patches.methods(Pool, _wait_for_updates=staticmethod(wait_for_updates))


PRIMITIVE = Primitive(
    words=(),
    classes=(),
    models=(),
    private={},
    parts=frozenset(),
    install=_install,
)
