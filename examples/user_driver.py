# expect: holds
"""A user thread asks a driver for data; a semaphore hands the buffer over (paper 002).

No lock protects the buffer.  The driver may touch it until it releases `ready`, the user once it
has acquired `ready`, until it asks again.  `mazurka check examples/user_driver.py --strategy
optimistic` finds this out and calls the buffer *handed over*.  With -D EARLY=1 the driver releases
`ready` before it has stored everything, and the user finds half of it.
"""

import threading

from mazurka.model import Array, Int

REQUESTS = 2
SIZE = 3
EARLY = 0

requested = threading.Semaphore(0)
ready = threading.Semaphore(0)
buf = Array(Int[0, 9], SIZE)


def user():
    for request in range(REQUESTS):
        requested.release()
        ready.acquire()
        for i in range(SIZE):
            assert buf[i] == request + i, "stale data"


def driver():
    for request in range(REQUESTS):
        requested.acquire()
        for i in range(SIZE):
            if EARLY and i == SIZE - 1:
                ready.release()
            buf[i] = request + i
        if not EARLY:
            ready.release()


threads = [user(), driver()]
