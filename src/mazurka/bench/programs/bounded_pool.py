"""A semaphore that lets two of three threads in at a time.  Right."""

import threading
from collections.abc import Callable


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


WORKERS: tuple[Callable[[State], None], ...] = (enters, enters, enters)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
