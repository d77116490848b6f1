# expect: violated lock
"""Ending a writing that never began."""

from mazurka.model import RWLock

lock = RWLock()


def reader():
    lock.acquire_read()
    lock.release_write()


threads = [reader()]
