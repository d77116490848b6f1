"""A lock that was there before the test began.  Right."""

import threading
from collections.abc import Callable

LOCK = threading.Lock()


class State:
    def __init__(self) -> None:
        self.count = 0


def counts(state: State) -> None:
    with LOCK:
        state.count += 1


def holds(state: State) -> bool:
    return state.count == 3


WORKERS: tuple[Callable[[State], None], ...] = (counts, counts, counts)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
