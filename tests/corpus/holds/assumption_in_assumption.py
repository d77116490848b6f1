# expect: holds
"""An assumption calls a function that assumes something itself."""

from mazurka.model import Int, assume

x: Int[0, 1] = 0


def is_free():
    assume(x == 0)
    return True


def takes():
    global x
    assume(is_free())
    x = 1
    assert x == 1


threads = [takes(), takes()]
