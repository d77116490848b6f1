# expect: holds
"""Locks are passed to functions and reached through names that stand for them."""

from mazurka.model import Array, Int, Mutex

locks = Array(Mutex, 2)
counts = Array(Int[0, 2], 2)


def add(lock, i):
    mine = lock
    with mine:
        counts[i] += 1


def worker():
    for i in range(2):
        add(locks[i], i)


def last():
    worker()
    with locks[1]:
        seen = counts[1]
    assert seen >= 1


threads = [worker(), last()]
