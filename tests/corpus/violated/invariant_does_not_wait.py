# expect: violated deadlock
"""An invariant that could still look does not hide that no thread can move."""

from mazurka.model import Array, Int, Mutex, invariant

forks = Array(Mutex, 2)
meals: Int[0, 2] = 0

invariant(meals <= 2)


def philosopher(i):
    global meals
    with forks[i]:
        with forks[1 - i]:
            meals += 1


threads = [philosopher(0), philosopher(1)]
