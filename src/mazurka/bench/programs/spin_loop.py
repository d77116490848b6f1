"""A thread that goes round a loop until another one is ready.  Right."""

import threading
from collections.abc import Callable


class State:
    def __init__(self) -> None:
        self.ready = False
        self.answer = 0
        self.seen = 0


def writes(state: State) -> None:
    state.answer = 42
    state.ready = True


def spins(state: State) -> None:
    while not state.ready:
        pass
    state.seen = state.answer


def holds(state: State) -> bool:
    return state.seen == 42


WORKERS: tuple[Callable[[State], None], ...] = (writes, spins)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
