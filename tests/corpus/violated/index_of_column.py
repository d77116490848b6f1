# expect: violated index "index 2 is outside 0..1 of `grid[1]`"
"""The error names the row whose index is wrong."""

from mazurka.model import Array, Int, choose

grid = Array(Array(Int[0, 9], 2), 3)


def main():
    i = choose(2, 2)
    grid[1][i] = 1


threads = [main()]
