"""A producer, a queue with room for one item, and a consumer that stops at None.  Right."""

import queue


class State:
    def __init__(self) -> None:
        self.items: queue.Queue[int | None] = queue.Queue(maxsize=1)
        self.total = 0


def produces(state: State) -> None:
    for item in (1, 2):
        state.items.put(item)
    state.items.put(None)


def consumes(state: State) -> None:
    while (item := state.items.get()) is not None:
        state.total += item


def holds(state: State) -> bool:
    return state.total == 3


WORKERS = (produces, consumes)
