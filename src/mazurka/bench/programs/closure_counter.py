"""A counter in a closure.  Wrong: `count += 1` reads and writes."""

import threading
from collections.abc import Callable


def make_counter() -> tuple[Callable[[], None], Callable[[], int]]:
    count = 0

    def increment() -> None:
        nonlocal count
        count += 1

    def value() -> int:
        return count

    return increment, value


class State:
    def __init__(self) -> None:
        self.increment, self.value = make_counter()


def counts(state: State) -> None:
    state.increment()


def holds(state: State) -> bool:
    return state.value() == 2


WORKERS: tuple[Callable[[State], None], ...] = (counts, counts)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
