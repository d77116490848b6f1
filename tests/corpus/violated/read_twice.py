# expect: violated assert "read twice"
"""Two reads of a shared variable in one expression may differ."""

from mazurka.model import Int

n: Int[0, 5] = 0


def writer():
    global n
    n = 5


def reader():
    assert n == n, "read twice"


threads = [writer(), reader()]
