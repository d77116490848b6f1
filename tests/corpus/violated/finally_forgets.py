# expect: violated deadlock
"""A `finally` part that releases the lock in one case only."""

import threading

lock = threading.Lock()


def work(k):
    lock.acquire()
    try:
        if k == 1:
            return
    finally:
        if k == 0:
            lock.release()


ts = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for t in ts:
    t.start()
