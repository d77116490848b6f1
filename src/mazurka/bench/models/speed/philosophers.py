"""Dining philosophers: take left, take right, put down left, put down right."""

from mazurka.model import Array, Mutex

N = 14

forks = Array(Mutex, N)


def philosopher(i):
    left, right = forks[i], forks[(i + 1) % N]
    while True:
        left.acquire()
        right.acquire()
        left.release()
        right.release()


threads = [philosopher(i) for i in range(N)]
