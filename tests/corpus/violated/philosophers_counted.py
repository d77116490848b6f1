# expect: violated deadlock
# states: 26
"""Philosophers who put the left fork down first.

Each fork is free, held as a left fork or held as a right fork, and that says where everybody is:
3 ** N assignments.  All but one can be reached: that everybody holds just the right fork cannot
be, because the last move before it would be a release of a left fork that is in fact in the
neighbour's right hand.  3 ** 3 - 1 = 26 states.
"""

from mazurka.model import Array, Mutex

N = 3
forks = Array(Mutex, N)


def philosopher(i):
    left, right = forks[i], forks[(i + 1) % N]
    while True:
        left.acquire()
        right.acquire()
        left.release()
        right.release()


threads = [philosopher(i) for i in range(N)]
