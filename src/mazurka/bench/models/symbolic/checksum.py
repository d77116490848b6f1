"""A record of 32 bits and its checksum, written and compared under a lock, again and again.

A proof needs that the checksum fits while nobody holds the lock.  No clause over few bits says so,
and no linear equation.  But a reader that finds a wrong record fails a few steps later, so a few
steps in a row are enough.  With -D LOCKED=0 the reader does without the lock, and fails.
"""

from mazurka.model import Int, Mutex, choose

LOCKED = 1
SIZE = 4294967296

record: Int[0, SIZE - 1] = 0
checksum: Int[0, 2 * SIZE] = 0
lock = Mutex()


def writes():
    global record, checksum
    while True:
        value = choose(range(SIZE))
        with lock:
            record = value
            checksum = (value ^ (value >> 16)) + (value >> 8)


def reads():
    while True:
        if LOCKED:
            lock.acquire()
        value = record
        sum_ = checksum
        if LOCKED:
            lock.release()
        assert sum_ == (value ^ (value >> 16)) + (value >> 8), "the checksum is wrong"


threads = [writes(), reads()]
