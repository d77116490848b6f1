"""Event loops that other threads run: their coroutines go on by themselves, whatever a test does.

Some packages start a thread at their import that runs an event loop for ever, and so do fixtures of
a whole session.  A coroutine that such a loop resumes has not been resumed by a run.  While a loop
runs in one thread no other thread can run it.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Iterator
from typing import Any, Final

_AWAITED: Final = ("cr_await", "ag_await", "gi_yieldfrom")
"""The attributes that tell what a coroutine, an asynchronous generator or a generator waits for."""


def find_driven() -> set[int]:
    """Find the identities of the coroutines that event loops of other threads resume."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return set()
    found: set[int] = set()
    for loop in _find_loops(asyncio.AbstractEventLoop):
        for task in asyncio.all_tasks(loop):
            found.update(map(id, _follow(task.get_coro())))
    return found


def _find_loops(kind: type) -> Iterator[Any]:
    me = get_ident()
    for thread, top in sys._current_frames().items():
        frame = top if thread != me else None
        while frame is not None:
            if frame.f_code.co_name == "run_forever":
                loop = frame.f_locals.get("self")
                if isinstance(loop, kind):
                    yield loop
            frame = frame.f_back


def _follow(thing: Any) -> Iterator[Any]:
    """Give a coroutine, and those for which it waits."""
    while thing is not None:
        yield thing
        thing = next((part for name in _AWAITED if (part := getattr(thing, name, None))), None)
