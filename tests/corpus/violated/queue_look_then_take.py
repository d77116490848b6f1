# expect: violated deadlock
"""Looking and taking are two steps: another thread may take in between."""

from mazurka.model import Queue

box = Queue(2)


def giver():
    box.put(1)


def taker():
    if not box.empty():
        box.get()


threads = [giver(), taker(), taker()]
