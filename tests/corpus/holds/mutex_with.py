# expect: holds
# check: --property assert,deadlock,race
# states: 14
"""A lock around a counter.

A thread takes five places: before the lock, before the read, before the write, before the
release, and done.  Only one of the two can be at one of the three places that hold the lock: of
25 pairs 9 are impossible, and 16 remain.  The counter follows from the places, but for the value
read: it too is known (0 for the first, 1 for the second).  The second thread can be inside only
with the first at the start or done, which are different counts but one place each.  So there are
2 * 2 pairs outside and 2 * 3 * 2 pairs with one inside: 16.  Merging lets the release follow the
write at once only where it is local, which it is not.
"""

from mazurka.model import Int, Mutex

lock = Mutex()
n: Int[0, 2] = 0


def add():
    global n
    with lock:
        n += 1


threads = [add(), add()]
