"""Threads that count without locks: nothing to reduce, everybody touches one cell."""

from mazurka.model import Int, fetch_add

N = 3
ROUNDS = 4

x: Int[0, N * ROUNDS] = 0


def worker():
    for _ in range(ROUNDS):
        fetch_add(x, 1)
        a = x
        assert a > 0, "nothing was counted"


threads = [worker() for _ in range(N)]
