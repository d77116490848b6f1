"""An event that is set before what it announces is written.  Wrong: the reader may come first."""

import threading


class State:
    def __init__(self) -> None:
        self.ready = threading.Event()
        self.answer = 0
        self.seen = 0


def writes(state: State) -> None:
    state.ready.set()
    state.answer = 42


def reads(state: State) -> None:
    state.ready.wait()
    state.seen = state.answer


def holds(state: State) -> bool:
    return state.seen == 42


WORKERS = (writes, reads)
