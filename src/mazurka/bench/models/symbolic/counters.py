"""Threads that count in a variable, under a lock; -D LOCKED=0 loses updates.

Few states, but a long way: a symbolic search must follow every addition.
"""

from mazurka.model import Int, Mutex, join, spawn

THREADS = 2
TIMES = 10
LOCKED = 1

count: Int[0, THREADS * TIMES] = 0
lock = Mutex()


def worker():
    global count
    for _ in range(TIMES):
        if LOCKED:
            lock.acquire()
        count += 1
        if LOCKED:
            lock.release()


def main():
    workers = [spawn(worker) for _ in range(THREADS)]
    for each in workers:
        join(each)
    assert count == THREADS * TIMES, "an update was lost"


main()
