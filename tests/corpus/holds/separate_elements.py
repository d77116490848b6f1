# expect: holds
# check: --property assert,deadlock,race
"""Threads that write different elements of one array do not race."""

from mazurka.model import Array, Int

cells = Array(Int[0, 3], 3)


def worker(i):
    for value in range(1, 4):
        cells[i] = value
    assert cells[i] == 3


threads = [worker(i) for i in range(3)]
