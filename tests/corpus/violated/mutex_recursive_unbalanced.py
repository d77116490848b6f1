# expect: violated lock
"""A recursive lock released once too often."""

from mazurka.model import Mutex

lock = Mutex(recursive=True)


def worker():
    lock.acquire()
    lock.acquire()
    lock.release()
    lock.release()
    lock.release()


threads = [worker(), worker()]
