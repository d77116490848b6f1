"""Dining philosophers that cannot deadlock (paper 003, A.7), five transitions a round.

Philosopher 0 is left-handed: fork 0 first, then fork 1.  All others take the fork on their right
first.  Eating is a transition of its own, so that a philosopher rests with both forks in hand.
"""

from mazurka.model import Array, Mutex, yield_

N = 5

forks = Array(Mutex, N)


def philosopher(first, second):
    while True:
        forks[first].acquire()
        forks[second].acquire()
        yield_()
        forks[first].release()
        forks[second].release()


threads = [philosopher(0, 1)] + [philosopher((i + 1) % N, i) for i in range(1, N)]
