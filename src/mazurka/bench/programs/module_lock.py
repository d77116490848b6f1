"""A lock that was there before the test began.  Right."""

import threading

LOCK = threading.Lock()


class State:
    def __init__(self) -> None:
        self.count = 0


def counts(state: State) -> None:
    with LOCK:
        state.count += 1


def holds(state: State) -> bool:
    return state.count == 3


WORKERS = (counts, counts, counts)
