# expect: violated assert "assertion failed: x == 1 (x is 0)"
"""A statement above the list that fails is a violation, although no thread has started."""

from mazurka.model import Int

x: Int[0, 3] = 0
assert x == 1


def worker():
    pass


threads = [worker()]
