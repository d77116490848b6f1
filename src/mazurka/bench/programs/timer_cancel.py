"""A time limit that is cancelled when the work is done.

Wrong: the timer may have looked before, and says that the work took too long.
"""

import threading


class State:
    def __init__(self) -> None:
        self.done = False
        self.late = False


def expires(state: State) -> None:
    if not state.done:
        state.late = True


def works(state: State) -> None:
    timer = threading.Timer(0.01, expires, args=(state,))
    timer.start()
    state.done = not state.late
    timer.cancel()
    timer.join()


def holds(state: State) -> bool:
    return not (state.done and state.late)


WORKERS = (works,)
