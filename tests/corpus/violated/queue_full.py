# expect: violated deadlock
"""More puts than places, and nobody who gets."""

from mazurka.model import Queue

box = Queue(2)


def giver():
    for i in range(3):
        box.put(i)


threads = [giver()]
