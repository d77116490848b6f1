# expect: violated lock
"""A bounded semaphore released more often than taken."""

from mazurka.model import BoundedSemaphore

places = BoundedSemaphore(1)


def guest():
    places.acquire()
    places.release()


def confused():
    places.release()


threads = [guest(), confused()]
