"""Two locks in opposite orders, the second one only if the other thread has left its name.

Wrong: a deadlock, in the schedules in which the owner is seen.
"""

import threading
from collections.abc import Callable


class State:
    def __init__(self) -> None:
        self.left = threading.Lock()
        self.right = threading.Lock()
        self.owner = ""


def owns(state: State) -> None:
    with state.left:
        state.owner = "first"
        with state.right:
            state.owner = ""


def visits(state: State) -> None:
    with state.right:
        if state.owner == "first":
            with state.left:
                pass


def holds(state: State) -> bool:
    return state.owner == ""


WORKERS: tuple[Callable[[State], None], ...] = (owns, visits)


def test() -> None:
    state = State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(state)
