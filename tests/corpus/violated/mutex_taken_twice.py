# expect: violated deadlock
"""A lock that is not recursive, taken twice by one thread."""

from mazurka.model import Mutex

lock = Mutex()


def inner():
    with lock:
        pass


def outer():
    with lock:
        inner()


threads = [outer()]
