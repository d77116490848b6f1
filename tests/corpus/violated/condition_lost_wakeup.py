# expect: violated deadlock
"""A notification that comes before the wait is lost."""

from mazurka.model import Condition

changed = Condition()


def waiter():
    with changed:
        changed.wait()


def notifier():
    with changed:
        changed.notify_all()


threads = [waiter(), notifier()]
