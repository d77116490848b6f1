# expect: violated lock
"""Releasing a lock that nobody holds."""

from mazurka.model import Mutex

lock = Mutex()


def careless():
    lock.acquire()
    lock.release()
    lock.release()


threads = [careless()]
