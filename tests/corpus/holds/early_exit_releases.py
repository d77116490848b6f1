# expect: holds
"""Leaving a `with` block by `return`, `break` or `continue` releases the lock."""

from mazurka.model import Int, Mutex

lock = Mutex()
n: Int[0, 9] = 0


def leaves(i):
    global n
    with lock:
        n = i
        if i == 1:
            return 5
    return 6


def worker():
    result = leaves(1)
    assert result == 5
    for i in range(3):
        with lock:
            if i == 0:
                continue
            if i == 1:
                break
    with lock:
        pass
    assert leaves(2) == 6


threads = [worker(), worker()]
