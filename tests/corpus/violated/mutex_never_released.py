# expect: violated deadlock
"""One path forgets the release."""

from mazurka.model import Mutex, choose

lock = Mutex()


def worker():
    lock.acquire()
    if choose(False, True):
        return
    lock.release()


threads = [worker(), worker()]
