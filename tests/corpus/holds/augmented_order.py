# expect: holds
"""`x += f()` reads x before the call; an index is evaluated once."""

from mazurka.model import Array, Int

a = Array(Int[0, 19], 3)
i: Int[0, 2] = 0
x: Int[0, 9] = 1


def bump():
    global i, x
    i = 1
    x = 5
    return 2


def main():
    global x
    a[i] += bump()
    assert a[0] == 2 and a[1] == 0
    x = 1
    x += bump()
    assert x == 3
    x = 1
    y = x + bump() * x
    assert y == 11


threads = [main()]
