# expect: violated assert "two inside"
"""The lock is looked at and taken in two steps; created threads meet inside."""

import threading

from mazurka.model import Bool, Int, fetch_add, invariant

taken: Bool = False
inside: Int[0, 2] = 0


def worker():
    global taken
    if not taken:
        taken = True
        fetch_add(inside, 1)
        fetch_add(inside, -1)
        taken = False


workers = [threading.Thread(target=worker) for _ in range(2)]
invariant(inside < 2, "two inside")
for each in workers:
    each.start()
for each in workers:
    each.join()
