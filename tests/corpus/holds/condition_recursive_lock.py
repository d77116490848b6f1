# expect: holds
"""Waiting lets go of a recursive lock altogether and takes it back as often as before."""

from mazurka.model import Bool, Condition, Mutex

lock = Mutex(recursive=True)
changed = Condition(lock)
ready: Bool = False


def waiter():
    with lock:
        with lock:
            while not ready:
                changed.wait()
    assert ready


def giver():
    global ready
    with lock:
        ready = True
        changed.notify()


threads = [waiter(), giver()]
