# expect: holds
# check: --property assert,deadlock,race
# states: 16
"""A lock around a counter.

A thread is at one of five places: before the lock; holding it before the read, the write or the
release; done.  The counter and the value read follow from the places of both.  Two threads cannot
be among the three holding places together: 5 * 5 - 3 * 3 = 16 states.
"""

from mazurka.model import Int, Mutex

lock = Mutex()
n: Int[0, 2] = 0


def add():
    global n
    with lock:
        n += 1


threads = [add(), add()]
