# expect: violated assert "one is missing"
"""A `cas` may fail; who ignores that loses the update."""

from mazurka.model import Int, cas, join, spawn

n: Int[0, 2] = 0


def add():
    old = n
    cas(n, old, old + 1)


def main():
    one, two = spawn(add), spawn(add)
    join(one)
    join(two)
    assert n == 2, "one is missing"


threads = [main()]
