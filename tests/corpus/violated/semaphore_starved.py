# expect: violated deadlock
"""One release for two threads that wait."""

from mazurka.model import Semaphore

tokens = Semaphore(0)


def waiter():
    tokens.acquire()


def giver():
    tokens.release()


threads = [waiter(), waiter(), giver()]
