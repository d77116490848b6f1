"""Double-checked initialization that publishes the object before it is complete.

Wrong: who looks without the lock may find it half made.
"""

import threading


class Settings:
    def __init__(self) -> None:
        self.size = 0


class State:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.settings: Settings | None = None
        self.seen: list[int] = []


def uses(state: State) -> None:
    if state.settings is None:
        with state.lock:
            if state.settings is None:
                state.settings = Settings()
                state.settings.size = 10
    state.seen.append(state.settings.size)


def holds(state: State) -> bool:
    return state.seen == [10, 10]


WORKERS = (uses, uses)
