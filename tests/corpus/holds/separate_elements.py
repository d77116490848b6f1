# expect: holds
# check: --property assert,deadlock,race
# states: 125
"""Threads that write different elements of one array do not race.

Each does four shared accesses (three writes, and the read of the assertion), so it is at one of
five places, and its element follows from the place: 5 ** 3 states.
"""

from mazurka.model import Array, Int

cells = Array(Int[0, 3], 3)


def worker(i):
    for value in range(1, 4):
        cells[i] = value
    assert cells[i] == 3


threads = [worker(i) for i in range(3)]
