"""Two counters of 32 bits that count together under a lock, and a third thread that compares them.

More states than can be stored.  A proof needs that the counters are equal while nobody holds the
lock: a fact about numbers, and not about a few of their bits.  With -D LOCKED=0 the comparison does
without the lock, and fails.
"""

from mazurka.model import Int, Mutex

LOCKED = 1
MOST = 4294967295

left: Int[0, MOST] = 0
right: Int[0, MOST] = 0
lock = Mutex()


def counts():
    global left, right
    while True:
        with lock:
            if left < MOST:
                left += 1
                right += 1


def compares():
    while True:
        if LOCKED:
            lock.acquire()
        assert left == right, "the counters differ"
        if LOCKED:
            lock.release()


threads = [counts(), compares()]
