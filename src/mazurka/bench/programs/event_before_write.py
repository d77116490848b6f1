"""An event that is set before what it announces is written.  Wrong: the reader may come first."""

import threading
from collections.abc import Callable


class State:
    def __init__(self) -> None:
        self.ready = threading.Event()
        self.answer = 0
        self.seen = 0


def writes(state: State) -> None:
    state.ready.set()
    state.answer = 42


def reads(state: State) -> None:
    state.ready.wait()
    state.seen = state.answer


def holds(state: State) -> bool:
    return state.seen == 42


WORKERS: tuple[Callable[[State], None], ...] = (writes, reads)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
