# expect: holds
"""An atomic section that would wait in the middle does not begin: both locks or none."""

from mazurka.model import Array, Int, Mutex, atomic

forks = Array(Mutex, 3)
meals: Int[0, 3] = 0


def philosopher(i):
    left, right = forks[i], forks[(i + 1) % 3]
    while True:
        with atomic():
            left.acquire()
            right.acquire()
        left.release()
        right.release()


threads = [philosopher(i) for i in range(3)]
