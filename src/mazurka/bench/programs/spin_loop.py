"""A thread that goes round a loop until another one is ready.  Right."""


class State:
    def __init__(self) -> None:
        self.ready = False
        self.answer = 0
        self.seen = 0


def writes(state: State) -> None:
    state.answer = 42
    state.ready = True


def spins(state: State) -> None:
    while not state.ready:
        pass
    state.seen = state.answer


def holds(state: State) -> bool:
    return state.seen == 42


WORKERS = (writes, spins)
