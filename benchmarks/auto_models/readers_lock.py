"""Readers and writers on a read-write lock with a version that writers raise."""

from mazurka.model import Int, RWLock

READERS = 3
WRITERS = 2

lock = RWLock()
low: Int[0, 3] = 0
high: Int[0, 3] = 0


def reader():
    while True:
        with lock.read():
            a = low
            b = high
            assert a == b, "half of a change was seen"


def writer():
    global low, high
    while True:
        with lock.write():
            low = (low + 1) % 4
            high = (high + 1) % 4


threads = [reader() for _ in range(READERS)] + [writer() for _ in range(WRITERS)]
