# expect: holds
"""A wait that a thread stopped by an assumption could end is no deadlock."""

from mazurka.model import Bool, Semaphore, assume

never = Semaphore(0)
flag: Bool = False


def stops():
    assume(flag)
    never.release()


def waits():
    never.acquire()


threads = [stops(), waits()]
