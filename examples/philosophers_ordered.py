# expect: holds
"""Dining philosophers who agree on an order of the forks.

Everyone takes the fork with the lower number first.  All but the last philosopher still begin at
the left; the last one begins at the right, and the circle of waiting is broken.

That two neighbours never eat at the same time is checked on the way.
"""

from mazurka.model import Array, Bool, Mutex

N = 4

forks = Array(Mutex, N)
eating = Array(Bool, N)


def philosopher(i):
    neighbour = (i + 1) % N
    first = forks[min(i, neighbour)]
    second = forks[max(i, neighbour)]
    while True:
        with first:
            with second:
                eating[i] = True
                assert not eating[neighbour], "two neighbours eat at the same time"
                eating[i] = False


threads = [philosopher(i) for i in range(N)]
