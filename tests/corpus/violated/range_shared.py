# expect: violated range
"""A counter that leaves its range."""

from mazurka.model import Int

n: Int[0, 3] = 0


def add():
    global n
    for _ in range(2):
        n += 1


threads = [add(), add()]
