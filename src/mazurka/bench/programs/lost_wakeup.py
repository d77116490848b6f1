"""A flag that is looked at before the lock is taken.  Wrong: a wake-up in between is lost."""

import threading


class State:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.done = False


def waits(state: State) -> None:
    if not state.done:
        with state.changed:
            state.changed.wait()


def finishes(state: State) -> None:
    state.done = True
    with state.changed:
        state.changed.notify()


def holds(state: State) -> bool:
    return state.done


WORKERS = (waits, finishes)
