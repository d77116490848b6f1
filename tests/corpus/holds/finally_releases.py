# expect: holds
"""`try ... finally` gives the lock back on every way out: continue, break, return, the end."""

import threading

from mazurka.model import Int

lock = threading.Lock()
n: Int[0, 9] = 0


def work(k):
    global n
    for i in range(3):
        lock.acquire()
        try:
            if i == 0:
                continue
            if i == 1 and k == 1:
                break
            if i == 2:
                return i + n
            n += 1
        finally:
            lock.release()
    return 7


def one():
    r = work(1)
    assert r == 7


def two():
    r = work(2)
    assert r >= 3


ts = [threading.Thread(target=one), threading.Thread(target=two)]
for t in ts:
    t.start()
for t in ts:
    t.join()
assert n == 1
assert not lock.locked()
