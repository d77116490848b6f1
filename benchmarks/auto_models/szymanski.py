"""Szymanski's mutual exclusion: a waiting room with a door in and a door out.

A thread looks at all flags at once."""

from mazurka.model import Array, Int, atomic

N = 3

flag = Array(Int[0, 4], N)
inside: Int[0, N] = 0


def count_at(low, high, first, last):
    found: Int[0, N] = 0
    with atomic():
        for other in range(N):
            if other >= first and other <= last and flag[other] >= low and flag[other] <= high:
                found += 1
    return found


def process(me):
    global inside
    while True:
        flag[me] = 1
        while count_at(3, 4, 0, N - 1) > 0:
            pass
        flag[me] = 3
        if count_at(1, 1, 0, N - 1) > 0:
            flag[me] = 2
            while count_at(4, 4, 0, N - 1) == 0:
                pass
        flag[me] = 4
        while count_at(2, 4, 0, me - 1) > 0:
            pass
        inside = me
        assert inside == me, "two threads are in the critical section"
        while count_at(2, 3, me + 1, N - 1) > 0:
            pass
        flag[me] = 0


threads = [process(i) for i in range(N)]
