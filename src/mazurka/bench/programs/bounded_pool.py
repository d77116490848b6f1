"""A semaphore that lets two of three threads in at a time.  Right."""

import threading


class State:
    def __init__(self) -> None:
        self.room = threading.Semaphore(2)
        self.lock = threading.Lock()
        self.inside = 0
        self.most = 0


def enters(state: State) -> None:
    with state.room:
        with state.lock:
            state.inside += 1
            state.most = max(state.most, state.inside)
        with state.lock:
            state.inside -= 1


def holds(state: State) -> bool:
    return state.most <= 2 and state.inside == 0


WORKERS = (enters, enters, enters)
