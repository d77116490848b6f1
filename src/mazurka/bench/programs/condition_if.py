"""A condition that is checked with `if` where `while` is needed.

Wrong: who comes between the wake-up and the waking takes the item, and `pop` fails.
"""

import threading


class State:
    def __init__(self) -> None:
        self.filled = threading.Condition()
        self.items: list[int] = []


def produces(state: State) -> None:
    for item in (1, 2):
        with state.filled:
            state.items.append(item)
            state.filled.notify()


def consumes(state: State) -> None:
    with state.filled:
        if not state.items:
            state.filled.wait()
        state.items.pop()


def holds(state: State) -> bool:
    return state.items == []


WORKERS = (produces, consumes, consumes)
