# expect: violated assert
"""Two senders: whose tuple comes first is not certain."""

from mazurka.model import Queue

box = Queue(maxsize=2)


def giver(name):
    box.put((name, 2 * name))


def taker():
    first = box.get()
    assert first[1] == 2 * first[0]
    name, _ = box.get()
    assert name == 2, "the second sender was first"


threads = [giver(1), giver(2), taker()]
