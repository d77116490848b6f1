# expect: holds
"""Without blocking, a semaphore says whether there was something left."""

from mazurka.model import Bool, Semaphore

tokens = Semaphore(1)
first: Bool = False
second: Bool = False


def one():
    global first
    first = tokens.acquire(blocking=False)


def two():
    global second
    second = tokens.acquire(blocking=False)
    assert not (first and second), "there was one token only"


threads = [one(), two()]
