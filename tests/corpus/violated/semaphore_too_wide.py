# expect: violated assert "two threads inside"
"""A semaphore that starts at 2 excludes nobody."""

from mazurka.model import Int, Semaphore

door = Semaphore(2)
visitor: Int[0, 1] = 0


def guest(me):
    global visitor
    with door:
        visitor = me
        assert visitor == me, "two threads inside"


threads = [guest(0), guest(1)]
