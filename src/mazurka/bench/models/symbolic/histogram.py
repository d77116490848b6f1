"""Threads count the bytes above a limit, each in its own part of an array, and add up their counts.

The bytes and the limit are arbitrary: more states than can be stored.  With -D LOCKED=0 a thread
adds its count without the lock, and the count of another one may be lost.
"""

from mazurka.model import Array, Int, Mutex, await_, choose, fetch_add

LOCKED = 1
THREADS = 2
PART = 3

bytes_ = Array(Int[0, 255], THREADS * PART)
limit: Int[0, 255] = 0
total: Int[0, THREADS * PART] = 0
finished: Int[0, THREADS] = 0
lock = Mutex()


def counts(number):
    global total
    count = 0
    for place in range(PART):
        if bytes_[number * PART + place] > limit:
            count += 1
    if LOCKED:
        lock.acquire()
    total += count
    if LOCKED:
        lock.release()
    fetch_add(finished, 1)


def looks():
    await_(finished == THREADS)
    expected = 0
    for place in range(THREADS * PART):
        if bytes_[place] > limit:
            expected += 1
    assert total == expected, "a count was lost"


limit = choose(range(256))
for place in range(THREADS * PART):
    bytes_[place] = choose(range(256))

threads = [counts(number) for number in range(THREADS)] + [looks()]
