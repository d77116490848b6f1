"""A counter in a global variable.  Wrong: `count += 1` reads and writes."""

count = 0


class State:
    def __init__(self) -> None:
        global count
        count = 0


def counts(state: State) -> None:
    global count
    count += 1


def holds(state: State) -> bool:
    return count == 2


WORKERS = (counts, counts)
