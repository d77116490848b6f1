# expect: holds
"""A `threading.RLock` taken twice."""

import threading

from mazurka.model import Int

lock = threading.RLock()
n: Int[0, 2] = 0


def add():
    global n
    with lock:
        with lock:
            n += 1


first = threading.Thread(target=add)
second = threading.Thread(target=add)
first.start()
second.start()
first.join()
second.join()
assert n == 2
