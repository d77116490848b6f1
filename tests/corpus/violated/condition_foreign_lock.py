# expect: violated lock
"""Holding a lock, but not the one of the condition."""

from mazurka.model import Condition, Mutex

lock = Mutex()
other = Mutex()
changed = Condition(lock)


def notifier():
    with other:
        changed.notify_all()


threads = [notifier()]
