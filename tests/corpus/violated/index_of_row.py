# expect: violated index
"""A row that does not exist, in an array of arrays."""

from mazurka.model import Array, Int, choose

grid = Array(Array(Int[0, 5], 3), 2)


def worker():
    i = choose(range(3))
    grid[i][i] = 5


threads = [worker()]
