# expect: holds
# check: --property assert,deadlock,race
"""A lock for each place, chosen while running: threads on different places do not meet."""

from mazurka.model import Array, Int, Mutex, choose

locks = Array(Mutex, 2)
cells = Array(Int[0, 2], 2)


def worker():
    place = choose(0, 1)
    with locks[place]:
        cells[place] += 1


threads = [worker(), worker()]
