"""Readers are counted under a lock; the writer looks at the count without it.

Wrong: a reader that comes after the look sees one half of what is written.
"""

import threading


class State:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.readers = 0
        self.left = 0
        self.right = 0
        self.torn = False


def reads(state: State) -> None:
    with state.lock:
        state.readers += 1
    if state.left != state.right:
        state.torn = True
    with state.lock:
        state.readers -= 1


def writes(state: State) -> None:
    if state.readers == 0:
        state.left = 1
        state.right = 1


def holds(state: State) -> bool:
    return not state.torn


WORKERS = (reads, writes)
