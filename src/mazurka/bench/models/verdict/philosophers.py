"""Dining philosophers who all take the left fork first: they starve."""

from mazurka.model import Array, Mutex

N = 12

forks = Array(Mutex, N)


def philosopher(me):
    left, right = forks[me], forks[(me + 1) % N]
    while True:
        left.acquire()
        right.acquire()
        left.release()
        right.release()


threads = [philosopher(i) for i in range(N)]
