# expect: violated assert "lost"
"""Two increments without a lock, and a look at the end."""

from mazurka.model import Int, join, spawn

n: Int[0, 2] = 0


def add():
    global n
    n += 1


def main():
    one = spawn(add)
    add()
    join(one)
    assert n == 2, "lost"


threads = [main()]
