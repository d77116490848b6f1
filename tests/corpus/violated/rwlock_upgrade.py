# expect: violated deadlock
"""Two readers who both want to become the writer."""

from mazurka.model import RWLock

lock = RWLock()


def reader():
    lock.acquire_read()
    lock.acquire_write()
    lock.release_write()
    lock.release_read()


threads = [reader(), reader()]
