# expect: violated deadlock
"""`return` between `acquire` and `release` keeps the lock for ever."""

from mazurka.model import Int, Mutex

lock = Mutex()
n: Int[0, 2] = 0


def worker():
    global n
    lock.acquire()
    n += 1
    if n == 1:
        return
    lock.release()


threads = [worker(), worker()]
