# expect: violated range
"""A variable of the module that no function uses keeps its declared range from one statement to
the next, whether it is assigned while the model is read or by `main`."""

from mazurka.model import Int

limit: Int[0, 3] = 0
for _ in range(2):
    limit += 2


def worker(bound):
    assert bound == 4


threads = [worker(limit)]
