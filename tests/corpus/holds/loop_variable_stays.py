# expect: holds
"""The variable of a `for` loop keeps its last value; the range is computed once."""

from mazurka.model import Int

limit: Int[0, 9] = 3
last: Int[0, 9] = 0


def main():
    global limit, last
    i = 0
    for i in range(limit):
        limit = 1
        last = i
    assert last == 2
    assert i == 2
    for i in range(4):
        last = i
        i = 9
    assert last == 3 and i == 9


threads = [main()]
