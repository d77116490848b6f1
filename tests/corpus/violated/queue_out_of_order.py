# expect: violated assert "the other one was first"
"""Two givers and one queue: either may be first."""

from mazurka.model import Queue

box = Queue(2)


def giver(number):
    box.put(number)


def taker():
    first = box.get()
    box.get()
    assert first == 1, "the other one was first"


threads = [giver(1), giver(2), taker()]
