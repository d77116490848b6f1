# expect: holds
"""A bounded semaphore is content with balanced use."""

from mazurka.model import BoundedSemaphore

places = BoundedSemaphore(2)


def guest():
    for _ in range(2):
        places.acquire()
        places.release()


threads = [guest(), guest(), guest()]
