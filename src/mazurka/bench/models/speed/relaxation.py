"""Bellman-Ford by several workers: shortest paths from a source, kept in one shared array.

The graph is a chain with dear shortcuts.  Each worker relaxes its part of the nodes again and
again, from the far end to the near one, so that news travels one node a sweep.
"""

from mazurka.model import Array, Int, atomic

WORKERS = 4
LENGTH = 7
SHORTCUT = 16

distance = Array(Int[0, 255], WORKERS * LENGTH, 255)


def worker(i):
    k = 0
    while True:
        node = (i + 1) * LENGTH - 1 - k
        with atomic():
            known = distance[node]
            along = distance[node - 1] + 1 if node > 0 else 0
            across = distance[node - SHORTCUT] + 2 * SHORTCUT if node >= SHORTCUT else 255
            distance[node] = min(known, along, across)
        k = (k + 1) % LENGTH


threads = [worker(i) for i in range(WORKERS)]
