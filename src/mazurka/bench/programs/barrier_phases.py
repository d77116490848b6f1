"""Two phases with a barrier between them: everyone reads what the others have written.  Right."""

import threading


class State:
    def __init__(self) -> None:
        self.barrier = threading.Barrier(2)
        self.first = 0
        self.second = 0
        self.sums: list[int] = []


def one(state: State) -> None:
    state.first = 1
    state.barrier.wait()
    state.sums.append(state.first + state.second)


def two(state: State) -> None:
    state.second = 2
    state.barrier.wait()
    state.sums.append(state.first + state.second)


def holds(state: State) -> bool:
    return state.sums == [3, 3]


WORKERS = (one, two)
