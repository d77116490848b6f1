# expect: violated index
"""One choice too many for the array."""

from mazurka.model import Array, Int, choose

cells = Array(Int[0, 1], 3)


def worker():
    i = choose(range(4))
    cells[i] = 1


threads = [worker()]
