# expect: holds
# check: --property assert,deadlock,race
"""Invariants look without locks, at any moment, and are no part of a race.

`spent` never gets ahead of `earned`, since it is always raised second; the threads themselves use
both under the lock only.
"""

from mazurka.model import Array, Int, Mutex, invariant

lock = Mutex()
earned: Int[0, 2] = 0
spent: Int[0, 2] = 0
seats = Array(Int[0, 1], 2)

invariant(spent <= earned <= spent + 1)
invariant(sum(seats) <= earned, "a seat is taken before it is paid for")


def worker(i):
    global earned, spent
    with lock:
        earned += 1
        spent += 1
    with lock:
        seats[i] = 1


threads = [worker(0), worker(1)]
