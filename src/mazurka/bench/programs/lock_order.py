"""Two locks in opposite orders, the second one only if the other thread has left its name.

Wrong: a deadlock, in the schedules in which the owner is seen.
"""

import threading


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


WORKERS = (owns, visits)
