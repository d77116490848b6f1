"""Bellman-Ford by several workers: longest paths along a chain, kept in one shared array.

Each worker relaxes its part of the chain again and again, from the far end to the near one, so
that news of a greater distance travels one node a sweep.
"""

from mazurka.model import Array, Int, atomic

WORKERS = 4
LENGTH = 8

distance = Array(Int[0, 255], WORKERS * LENGTH + 1)


def worker(i):
    while True:
        for k in range(LENGTH):
            node = (i + 1) * LENGTH - k
            with atomic():
                distance[node] = max(distance[node], distance[node - 1] + 1)


threads = [worker(i) for i in range(WORKERS)]
