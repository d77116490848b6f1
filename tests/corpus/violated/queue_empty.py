# expect: violated deadlock
"""Two gets for one put."""

from mazurka.model import Queue

box = Queue(1)


def giver():
    box.put(1)


def taker():
    box.get()


threads = [giver(), taker(), taker()]
