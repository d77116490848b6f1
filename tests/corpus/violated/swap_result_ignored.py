# expect: violated assert "two inside"
"""A spin lock that forgets to look at what `swap` gives back."""

from mazurka.model import Bool, Int, swap

locked: Bool = False
visitor: Int[0, 1] = 0


def enter(me):
    global locked, visitor
    swap(locked, True)
    visitor = me
    assert visitor == me, "two inside"
    locked = False


threads = [enter(0), enter(1)]
