"""The number of an entry, taken from the length of the list after `append`.

Wrong: two threads may both append first, and get the same number.
"""

import threading
from collections.abc import Callable


class State:
    def __init__(self) -> None:
        self.entries: list[str] = []
        self.first = 0
        self.second = 0


def one(state: State) -> None:
    state.entries.append("one")
    state.first = len(state.entries)


def two(state: State) -> None:
    state.entries.append("two")
    state.second = len(state.entries)


def holds(state: State) -> bool:
    return state.first != state.second


WORKERS: tuple[Callable[[State], None], ...] = (one, two)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
