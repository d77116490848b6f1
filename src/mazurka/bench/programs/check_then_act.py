"""A cache that is looked into and then filled.  Wrong: two threads may both fill it."""


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


WORKERS = (looks_up, looks_up)
