# expect: violated deadlock
"""Threads made at module level share a condition; its notification can be lost."""

from threading import Condition, Thread

cv = Condition()


def waiter():
    with cv:
        cv.wait()


def notifier():
    with cv:
        cv.notify_all()


Thread(target=waiter).start()
Thread(target=notifier).start()
