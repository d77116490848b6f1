# expect: violated range
"""The second part of a tuple does not fit, though the first one would."""

from mazurka.model import Int, Queue

box = Queue(2, (Int[0, 9], Int[0, 1]))


def giver():
    box.put((1, 1))
    box.put((1, 2))


def taker():
    box.get()


threads = [giver(), taker()]
