# expect: violated lock
"""Releasing an unlocked `threading.Lock` is an error."""

import threading

lock = threading.Lock()


def worker():
    lock.acquire()
    lock.release()
    lock.release()


thread = threading.Thread(target=worker)
thread.start()
