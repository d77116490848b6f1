"""Whose tasks, sockets and pipes go on in an order that the search does not choose.

`python.places.outside` says what is used, and when that matters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import ref

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.monitoring import UNEXPLORED, unobserved


class Outside:
    """What threads have used in one execution that leads outside."""

    def __init__(self) -> None:
        self._epoch = 0
        self._users: set[int] = set()
        """The threads that have used sockets or pipes while others ran."""
        self._tasks: dict[int, list[ref[Any]]] = {}
        """By thread: the tasks of `asyncio` that it has made."""

    def _begin(self) -> None:
        if self._epoch != session.current.epoch:
            self._epoch = session.current.epoch
            self._users.clear()
            self._tasks.clear()

    def use(self, name: str) -> None:
        """Note that the running thread uses a socket or a pipe."""
        if now.alone:
            return
        self._begin()
        self._users.add(now.thread)
        if len(self._users) > 1:
            # Who describes an operation is not under control meanwhile.
            unobserved.code.add(f"{name} ({UNEXPLORED})")

    def has_used(self, thread: int) -> bool:
        """Tell whether a thread has used sockets or pipes in this execution while others ran."""
        return self._epoch == session.current.epoch and thread in self._users

    def add_task(self, task: Any, is_done: Callable[[Any], bool]) -> None:
        """Note a new task of the running thread; `is_done` says whether one has ended."""
        self._begin()
        tasks = self._tasks.setdefault(now.thread, [])
        tasks[:] = [one for one in tasks if (known := one()) is not None and not is_done(known)]
        if tasks:
            unobserved.note_code("asyncio.tasks", UNEXPLORED)
        tasks.append(ref(task))


outside: Final = Outside()
