# expect: holds
# check: --property assert,deadlock,race
"""The same without `with`."""

from mazurka.model import Int, RWLock

lock = RWLock()
value: Int[0, 2] = 0


def reader():
    lock.acquire_read()
    seen = value
    lock.release_read()
    assert 0 <= seen <= 2


def writer():
    global value
    lock.acquire_write()
    value += 1
    lock.release_write()


threads = [reader(), reader(), writer(), writer()]
