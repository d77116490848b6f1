"""The number of an entry, taken from the length of the list after `append`.

Wrong: two threads may both append first, and get the same number.
"""


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


WORKERS = (one, two)
