"""The test of each of the twenty programs, a copy of which lies beside it as `program.py`."""

import importlib
import threading

program = importlib.import_module("program")


def test() -> None:
    """Run each worker in a thread of its own; afterwards the program has to hold."""
    state = program.State()
    threads = [threading.Thread(target=worker, args=(state,)) for worker in program.WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert program.holds(state)
