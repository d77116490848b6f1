# expect: violated lock
"""`wait` needs the lock."""

from mazurka.model import Condition

changed = Condition()


def waiter():
    changed.wait()


def notifier():
    with changed:
        changed.notify()


threads = [waiter(), notifier()]
