# expect: holds
"""Readers share, a writer is alone."""

from mazurka.model import Int, RWLock, fetch_add

lock = RWLock()
readers: Int[0, 2] = 0
value: Int[0, 2] = 0


def reader():
    with lock.read():
        fetch_add(readers, 1)
        before = value
        after = value
        assert before == after, "the value changed under a reader"
        fetch_add(readers, -1)


def writer():
    global value
    with lock.write():
        assert readers == 0, "a reader is still here"
        value += 1


threads = [reader(), reader(), writer(), writer()]
