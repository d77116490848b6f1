# expect: violated assert "assertion failed: a == x (a is 1, x is 2)"
"""Reading the variable at the call would hold; Python has read it at `def`."""

from mazurka.model import Int

x: Int[0, 3] = 1


def worker(a=x):
    assert a == x


x = 2
threads = [worker()]
