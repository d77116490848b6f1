# expect: violated assert "an update was lost"
"""Two atomic sections are not one."""

from mazurka.model import Int, atomic, join, spawn

n: Int[0, 2] = 0


def add():
    global n
    with atomic():
        old = n
    with atomic():
        n = old + 1


def main():
    one, two = spawn(add), spawn(add)
    join(one)
    join(two)
    assert n == 2, "an update was lost"


threads = [main()]
