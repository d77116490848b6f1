# expect: violated lock
"""Releasing a lock that another thread holds."""

from mazurka.model import Mutex

lock = Mutex()


def owner():
    lock.acquire()


def thief():
    if lock.locked():
        lock.release()


threads = [owner(), thief()]
