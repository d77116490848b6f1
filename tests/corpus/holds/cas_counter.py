# expect: holds
"""A counter that tries again until its `cas` succeeds."""

from mazurka.model import Int, cas, join, spawn

n: Int[0, 2] = 0


def add():
    while True:
        old = n
        if cas(n, old, old + 1):
            break


def main():
    one, two = spawn(add), spawn(add)
    join(one)
    join(two)
    assert n == 2


threads = [main()]
