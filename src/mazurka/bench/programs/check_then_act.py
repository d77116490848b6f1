"""A cache that is looked into and then filled.  Wrong: two threads may both fill it."""

import threading
from collections.abc import Callable


class State:
    def __init__(self) -> None:
        self.cache: dict[str, int] = {}
        self.made: list[int] = []


def looks_up(state: State) -> None:
    if "answer" not in state.cache:
        state.made.append(42)
        state.cache["answer"] = 42


def holds(state: State) -> bool:
    return len(state.made) == 1


WORKERS: tuple[Callable[[State], None], ...] = (looks_up, looks_up)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
