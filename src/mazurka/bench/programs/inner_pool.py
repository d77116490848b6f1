"""A thread that uses a pool of threads, which count without a lock.  Wrong: an update is lost."""

from concurrent.futures import ThreadPoolExecutor


class State:
    def __init__(self) -> None:
        self.count = 0


def counts(state: State) -> None:
    state.count += 1


def uses_pool(state: State) -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        futures = [pool.submit(counts, state) for _ in range(2)]
        for future in futures:
            future.result()


def holds(state: State) -> bool:
    return state.count == 2


WORKERS = (uses_pool,)
