"""Consumers that ask whether the queue is empty, and then wait for an item.

Wrong: with one item for two of them, one may wait for ever.
"""

import queue


class State:
    def __init__(self) -> None:
        self.items: queue.Queue[int] = queue.Queue()
        self.items.put(1)


def consumes(state: State) -> None:
    if not state.items.empty():
        state.items.get()


def holds(state: State) -> bool:
    return state.items.empty()


WORKERS = (consumes, consumes)
