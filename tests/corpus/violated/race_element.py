# expect: violated race
# check: --property race
"""Two threads whose indices may be the same."""

from mazurka.model import Array, Int, choose

cells = Array(Int[0, 1], 3)


def writer(first):
    i = choose(first, first + 1)
    cells[i] = 1


threads = [writer(0), writer(1)]
