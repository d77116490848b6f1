"""A counter in a closure.  Wrong: `count += 1` reads and writes."""

from collections.abc import Callable


def make_counter() -> tuple[Callable[[], None], Callable[[], int]]:
    count = 0

    def increment() -> None:
        nonlocal count
        count += 1

    def value() -> int:
        return count

    return increment, value


class State:
    def __init__(self) -> None:
        self.increment, self.value = make_counter()


def counts(state: State) -> None:
    state.increment()


def holds(state: State) -> bool:
    return state.value() == 2


WORKERS = (counts, counts)
