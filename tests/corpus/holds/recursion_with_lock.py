# expect: holds
"""Recursion in several threads, under a recursive lock."""

from mazurka.model import Int, RMutex

lock = RMutex()
depth: Int[0, 3] = 0


def down(levels):
    global depth
    if levels == 0:
        return
    with lock:
        depth += 1
        down(levels - 1)
        depth -= 1


def worker():
    down(3)
    with lock:
        assert depth == 0


threads = [worker(), worker()]
