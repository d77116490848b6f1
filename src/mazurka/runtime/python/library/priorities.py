"""`queue.PriorityQueue`: putting and getting compare items, which may change meanwhile.

The mutex of the queue keeps others from the queue, not from its items: an item that is a list, or
an object that says by its attributes what comes before what, can change while the heap is put in
order.  So the heap is used as by the program itself (`heapq.heappush(items, item)`).  Calls that
compare nothing but numbers and text never come here (`primitives.queue`).
"""

from __future__ import annotations

import heapq
import queue
from collections.abc import Iterator
from typing import Any, Final

from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.python.calls import call


def _site(method: str) -> int:
    """Make the number of a place in the source: the beginning of a method."""
    line = vars(queue.PriorityQueue)[method].__code__.co_firstlineno
    return number_of(AccessSite(queue.__file__, line, 4, line, 60, "call"))


_PUT: Final = _site("_put")
_GET: Final = _site("_get")


def replace_parts_of_queues() -> Iterator[tuple[type, str, Any]]:
    """The class, names of its parts, and what is to be in their places."""

    def _put(self: Any, item: Any) -> None:
        call(heapq.heappush, _PUT)(self.queue, item)

    def _get(self: Any) -> Any:
        return call(heapq.heappop, _GET)(self.queue)

    yield queue.PriorityQueue, "_put", _put
    yield queue.PriorityQueue, "_get", _get
