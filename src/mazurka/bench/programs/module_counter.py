"""A counter in a global variable.  Wrong: `count += 1` reads and writes."""

import threading
from collections.abc import Callable

count = 0


class State:
    def __init__(self) -> None:
        global count
        count = 0


def counts(state: State) -> None:
    global count
    count += 1


def holds(state: State) -> bool:
    return count == 2


WORKERS: tuple[Callable[[State], None], ...] = (counts, counts)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
