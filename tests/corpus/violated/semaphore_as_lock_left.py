# expect: violated deadlock
"""A try that succeeds is forgotten."""

from mazurka.model import Semaphore

door = Semaphore(1)


def tries():
    door.acquire(blocking=False)


def waits():
    with door:
        pass


threads = [tries(), waits()]
