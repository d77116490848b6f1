# expect: violated lock
"""`notify` needs the lock."""

from mazurka.model import Condition, Mutex

lock = Mutex()
changed = Condition(lock)


def notifier():
    changed.notify()


threads = [notifier()]
