# expect: holds
"""A thread stopped by an assumption is no deadlock, whoever waits for it."""

from mazurka.model import Bool, Semaphore, assume

never = Semaphore(0)
flag: Bool = False


def stops():
    assume(flag)
    never.release()


def waits():
    never.acquire()


threads = [stops(), waits()]
