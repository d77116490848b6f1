# expect: holds
"""A grid, its rows as objects, first values, `len`."""

from mazurka.model import Array, Int

grid = Array(Array(Int[0, 9], 3), 2)
firsts = Array(Int[0, 9], 3, [4, 5, 6])


def fill(row):
    line = grid[row]
    for column in range(len(line)):
        line[column] = row * 3 + column


def check():
    fill(0)
    fill(1)
    for row in range(len(grid)):
        for column in range(3):
            assert grid[row][column] == row * 3 + column
    assert firsts[0] + firsts[1] + firsts[2] == 15
    assert firsts[-1] == 6


threads = [check()]
