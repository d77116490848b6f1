# expect: holds
"""Dining philosophers with a waiter.

The waiter lets at most N - 1 of them sit down at the same time, so at least one of those who sit
finds both forks.  Everyone still begins with the left fork.

With `-D SEATS=4` the waiter lets everybody in, and the deadlock of `philosophers.py` is back.
"""

from mazurka.model import Array, Mutex, Semaphore

N = 4
SEATS = 3

forks = Array(Mutex, N)
waiter = Semaphore(SEATS)


def philosopher(i):
    left, right = forks[i], forks[(i + 1) % N]
    while True:
        waiter.acquire()
        left.acquire()
        right.acquire()
        left.release()
        right.release()
        waiter.release()


threads = [philosopher(i) for i in range(N)]
